use crate::effect::RecordEffect;
use crate::path::WorkspacePath;
use crate::tool::{Category, Input, Output, Prepared, Risk, Signal, Spec, ToolContext};
use planwright_protocol::{ErrorCode, Permission, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Submit the review, once: a verdict, and findings by file and line, or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitReview {
    /// Verdict, and what you read.
    summary: String,
    findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Finding {
    path: String,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    severity: Grade,
    /// What happens, when, how to fix it.
    comment: String,
}

// The most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Grade {
    Critical,
    Major,
    Minor,
}

impl Grade {
    const ALL: [Grade; 3] = [Grade::Critical, Grade::Major, Grade::Minor];

    fn word(self) -> &'static str {
        match self {
            Grade::Critical => "critical",
            Grade::Major => "major",
            Grade::Minor => "minor",
        }
    }
}

const MOST_FINDINGS: usize = 200;
const LONGEST_SUMMARY: usize = 20_000;
const LONGEST_COMMENT: usize = 5_000;

impl Input for SubmitReview {
    const SPEC: Spec<'static> = Spec {
        name: "submit_review",
        category: Category::Other,
        risk: Risk::Low,
        read_only: true,
        needs: &[&[Permission::Review]],
        examples: &[
            r#"{"summary": "One bug, else sound.", "findings": [{"path": "/src/main.rs", "line": 12, "severity": "major", "comment": "Panics on an empty list."}]}"#,
        ],
    };

    fn prepare(mut self, _: &ToolContext) -> Result<Prepared, Problem> {
        self.check()?;
        Ok(Prepared::new(vec![RecordEffect::Review], move |permit| {
            permit.to_record(RecordEffect::Review)?.enter()?;
            let review = serde_json::to_value(&self).map_err(|error| Problem::new(ErrorCode::Internal, error.to_string()))?;
            let text = format!("The review was submitted: {}. The user sees it now.", self.count());
            Ok(Output::text(text).with("findings", self.findings.len()).signalling(Signal::Reviewed { review, text: self.markdown() }))
        }))
    }
}

impl SubmitReview {
    /// Checks everything at once, and normalises every path.
    fn check(&mut self) -> Result<(), Problem> {
        let invalid = |text: String| Err(Problem::new(ErrorCode::InvalidArguments, text));
        if is_unfit(&self.summary, LONGEST_SUMMARY) {
            return invalid(format!("`summary` must have 1 to {LONGEST_SUMMARY} characters."));
        }
        let count = self.findings.len();
        if count > MOST_FINDINGS {
            return invalid(format!("There are {count} findings; submit the {MOST_FINDINGS} most important ones."));
        }
        for (index, finding) in self.findings.iter_mut().enumerate() {
            let path = WorkspacePath::parse(&finding.path)
                .map_err(|problem| Problem::new(problem.code, format!("`findings[{index}].path`: {}", problem.message)))?;
            finding.path = path.to_string();
            if finding.line == Some(0) {
                return invalid(format!("`findings[{index}].line` must be 1 or more; omit it if there is none."));
            }
            if is_unfit(&finding.comment, LONGEST_COMMENT) {
                return invalid(format!("`findings[{index}].comment` must have 1 to {LONGEST_COMMENT} characters."));
            }
        }
        Ok(())
    }

    /// The number of findings of each severity, as text.
    fn count(&self) -> String {
        let of = |grade: Grade| self.findings.iter().filter(|finding| finding.severity == grade).count();
        let parts: Vec<String> =
            Grade::ALL.iter().filter(|grade| of(**grade) > 0).map(|grade| format!("{} {}", of(*grade), grade.word())).collect();
        if parts.is_empty() { "no findings".to_owned() } else { parts.join(", ") }
    }

    /// The review as text: by file, the most severe findings of each file first.
    fn markdown(&self) -> String {
        let mut files: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        for finding in &self.findings {
            files.entry(&finding.path).or_default().push(finding);
        }
        let mut text = format!("## Review: {}\n\n{}\n", self.count(), self.summary.trim());
        for (path, mut findings) in files {
            findings.sort_by_key(|finding| (finding.severity, finding.line));
            text.push_str(&format!("\n### {path}\n\n"));
            for finding in findings {
                let line = finding.line.map(|line| format!(", line {line}")).unwrap_or_default();
                let comment = finding.comment.trim().replace('\n', "\n  ");
                text.push_str(&format!("- **{}**{line}: {comment}\n", finding.severity.word()));
            }
        }
        text
    }
}

fn is_unfit(text: &str, longest: usize) -> bool {
    text.trim().is_empty() || text.chars().count() > longest
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use crate::tool::Signal;
    use planwright_protocol::Role;
    use serde_json::json;

    #[test]
    fn a_review_is_kept_as_data_and_told_by_file_and_line() {
        let finding =
            |path: &str, line, severity: &str| json!({"path": path, "line": line, "severity": severity, "comment": "Mend it.\nSoon."});
        let findings = [finding("src/b.rs", 9, "minor"), finding("/src/a.rs", 3, "critical"), finding("src/b.rs", 12, "major")];
        let args = json!({"summary": "Read src/.", "findings": findings}).to_string();
        let output = Trial::new(&[]).call(Role::Reviewer, "submit_review", &args).unwrap();
        assert!(output.text.contains("1 critical, 1 major, 1 minor"), "{}", output.text);
        let Some(Signal::Reviewed { review, text }) = output.signal else { panic!("no review") };
        assert_eq!(review["findings"][0]["path"], "/src/b.rs", "every path as the workspace writes it");
        let expected = "## Review: 1 critical, 1 major, 1 minor\n\nRead src/.\n\n### /src/a.rs\n\n- **critical**, line 3: Mend it.\n  Soon.\n\n### /src/b.rs\n\n- **major**, line 12: Mend it.\n  Soon.\n- **minor**, line 9: Mend it.\n  Soon.\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_wrong_with_a_review_is_named() {
        let refusal = |review: serde_json::Value| {
            let problem = Trial::new(&[]).call(Role::Reviewer, "submit_review", &review.to_string()).unwrap_err();
            (problem.code.as_str(), problem.message)
        };
        let with = |finding: serde_json::Value| json!({"summary": "x", "findings": [finding]});
        for (review, code, part) in [
            (json!({"summary": " ", "findings": []}), "INVALID_ARGUMENTS", "summary"),
            (json!({"summary": "x"}), "INVALID_ARGUMENTS", "findings"),
            (with(json!({"path": "../x", "severity": "major", "comment": "c"})), "PATH_INVALID", "findings[0].path"),
            (with(json!({"path": "a", "severity": "blocker", "comment": "c"})), "INVALID_ARGUMENTS", "critical"),
            (with(json!({"path": "a", "line": 0, "severity": "major", "comment": "c"})), "INVALID_ARGUMENTS", "line"),
            (with(json!({"path": "a", "severity": "major", "comment": ""})), "INVALID_ARGUMENTS", "comment"),
            (with(json!({"path": "a", "severity": "major", "comment": "c".repeat(5001)})), "INVALID_ARGUMENTS", "comment"),
        ] {
            let (found, message) = refusal(review);
            assert_eq!(found, code, "{message}");
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn only_who_reviews_hands_in_reviews() {
        let args = r#"{"summary": "Fine", "findings": []}"#;
        for role in Role::all() {
            let outcome = Trial::new(&[]).call(role, "submit_review", args);
            match outcome {
                Ok(_) => assert_eq!(role, Role::Reviewer),
                Err(problem) => assert_eq!(problem.code.as_str(), "TOOL_NOT_PERMITTED", "{role}"),
            }
        }
    }
}
