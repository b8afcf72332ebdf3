//! `planwright plan`

use crate::args::{PlanArgs, PlanCommand};
use crate::output;
use anyhow::{Context, bail};
use planwright_plan::PlanDocument;
use planwright_plan::{Finding, MAX_PLAN_BYTES, lint};
use planwright_protocol::{Plan, StepStatus};
use planwright_tools::Workspace;
use planwright_tools::plan_callers::callers_outside;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

pub fn plan(args: PlanArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        PlanCommand::Lint { files } => {
            let mut clean = true;
            for file in &files {
                match read(file) {
                    Ok(text) => {
                        for finding in lint(&text).into_iter().chain(callers(file, &text)) {
                            output::line(&format!("{}:{finding}", file.display()));
                            clean = false;
                        }
                    }
                    Err(error) => {
                        output::fail(&error);
                        clean = false;
                    }
                }
            }
            Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        PlanCommand::Show { file } => {
            let document = parse(&file)?;
            output::line(&pretty(&document));
            Ok(ExitCode::SUCCESS)
        }
        PlanCommand::Json { file } => {
            output::data(&serde_json::to_string_pretty(&parse(&file)?.plan)?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// What code outside of the plan's files uses, if the plan lies in the `plans` folder of its workspace.
fn callers(file: &Path, text: &str) -> Vec<Finding> {
    let folder = std::path::absolute(file).ok().and_then(|file| {
        let plans = file.ancestors().skip(1).find(|folder| folder.ends_with("plans"))?;
        plans.parent().map(Path::to_owned)
    });
    let workspace = folder.and_then(|folder| Workspace::open(&folder).ok());
    workspace.map(|workspace| callers_outside(&workspace, &Arc::default(), text)).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a file that the user names on the command line")]
fn read(file: &Path) -> anyhow::Result<String> {
    let unreadable = || format!("can't read {}", file.display());
    // Reading a pipe would block, and a device has no end.
    if !std::fs::metadata(file).with_context(unreadable)?.is_file() {
        bail!("{} is not a file", file.display());
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file).with_context(unreadable)?.take(MAX_PLAN_BYTES as u64 + 1).read_to_end(&mut bytes).with_context(unreadable)?;
    String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", file.display()))
}

fn parse(file: &Path) -> anyhow::Result<PlanDocument> {
    match PlanDocument::parse(&read(file)?) {
        Ok(document) => Ok(document),
        Err(findings) => {
            let findings: Vec<String> = findings.iter().map(|finding| format!("{}:{finding}", file.display())).collect();
            bail!("this is not a plan\n{}", findings.join("\n"))
        }
    }
}

fn pretty(document: &PlanDocument) -> String {
    let plan = &document.plan;
    let mut lines =
        vec![plan.goal.clone(), format!("revision {}, {}, {}", document.revision, document.status.as_str(), progress(plan)), String::new()];
    for step in &plan.steps {
        lines.push(format!("{} {}. {}", mark(step.status), step.step_number, step.action));
        let mut detail = |name: &str, value: &str| {
            if !value.is_empty() {
                lines.push(format!("       {name}: {value}"));
            }
        };
        detail("why", &step.reason);
        detail("files", &step.files.join(", "));
        detail("verify", step.verify.as_deref().unwrap_or_default());
        detail("time", step.estimated_time.as_deref().unwrap_or_default());
    }
    for (title, items) in [
        ("Assumptions", &plan.assumptions),
        ("Risks", &plan.risks),
        ("Prerequisites", &plan.prerequisites),
        ("Validation", &plan.validation),
    ] {
        if !items.is_empty() {
            lines.push(format!("\n{title}"));
            lines.extend(items.iter().map(|item| format!("  - {item}")));
        }
    }
    lines.join("\n")
}

fn progress(plan: &Plan) -> String {
    let done = plan.steps.iter().filter(|step| step.status == StepStatus::Done).count();
    format!("{done} of {} steps done", plan.steps.len())
}

fn mark(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "  [ ]",
        StepStatus::InProgress => "  [~]",
        StepStatus::Done => "  [x]",
        StepStatus::Skipped => "  [-]",
    }
}
