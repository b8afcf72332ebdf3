//! The `.plan` file: what is written reads back as itself, what people write by hand stays theirs.

use planwright_plan::{Gravity, MAX_PLAN_BYTES, PlanDocument, check, lint};
use planwright_protocol::sha256_hex;
use planwright_protocol::{Plan, PlanFileStatus, PlanStep, StepStatus};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn step(step_number: u32, action: &str) -> PlanStep {
    PlanStep { step_number, action: action.to_owned(), ..PlanStep::default() }
}

fn farewell() -> Plan {
    Plan {
        goal: "Add a farewell".to_owned(),
        steps: vec![
            PlanStep {
                reason: "The greeting has no counterpart".to_owned(),
                tools_needed: vec!["read".to_owned(), "edit".to_owned()],
                files: vec!["src/main.rs".to_owned(), "src/{hello,bye}.rs".to_owned()],
                estimated_time: Some("5 min".to_owned()),
                ..step(1, "Write `farewell()` next to `greet()`")
            },
            PlanStep { verify: Some("cargo test farewell".to_owned()), files: vec!["tests/**".to_owned()], ..step(2, "Test it") },
        ],
        estimated_total_time: Some("15 min".to_owned()),
        risks: vec!["The name may clash with an import".to_owned()],
        prerequisites: vec![],
        assumptions: vec!["The greeting stays as it is".to_owned()],
        validation: vec!["`cargo test` passes".to_owned()],
    }
}

#[test]
fn a_new_plan_file_is_pleasant_to_read() {
    let document = PlanDocument::new(farewell(), Some("0192e4a0-7d3c-7b4e-9f00-0123456789ab".to_owned()), 1);
    let expected = "\
---
goal: Add a farewell
status: draft
chat: 0192e4a0-7d3c-7b4e-9f00-0123456789ab
revision: 1
estimated_total_time: \"15 min\"
---

# Add a farewell

## Assumptions

- The greeting stays as it is

## Steps

- [ ] 1. Write `farewell()` next to `greet()`
  reason: The greeting has no counterpart
  tools: read, edit
  files: src/main.rs, src/{hello,bye}.rs
  time: 5 min
- [ ] 2. Test it
  files: tests/**
  verify: cargo test farewell

## Risks

- The name may clash with an import

## Validation

- `cargo test` passes
";
    assert_eq!(document.render(), expected);
    assert_eq!(document.sha256(), sha256_hex(expected.as_bytes()));
    let read = PlanDocument::parse(expected).unwrap();
    assert_eq!((read.plan, read.chat, read.revision), (document.plan, document.chat, 1));
}

#[test]
fn text_on_several_lines_stays_readable_and_text_that_would_be_misread_is_quoted() {
    let mut plan = farewell();
    plan.steps.truncate(1);
    plan.steps[0].action = "Do this:\n- first\n  - deeper\n\n## not a heading\n- [ ] 2. not a step".to_owned();
    plan.steps[0].reason = "because\nfiles: of a trap".to_owned();
    plan.steps[0].verify = Some("  spaced ".to_owned());
    plan.steps[0].files = vec!["a, b.rs".to_owned(), String::new(), "`c`".to_owned(), "d e.rs".to_owned()];
    let text = PlanDocument::new(plan.clone(), None, 1).render();
    let steps = "\
- [ ] 1. Do this:
    - first
      - deeper

    ## not a heading
    - [ ] 2. not a step
  reason: \"because\\nfiles: of a trap\"
  tools: read, edit
  files: \"a, b.rs\", \"\", \"`c`\", d e.rs
  time: 5 min
  verify: \"  spaced \"
";
    assert!(text.contains(steps), "{text}");
    assert_eq!(PlanDocument::parse(&text).unwrap().plan, plan);
}

const BY_HAND: &str = "\u{feff}Plans for the week\r\n\r\n# Tidy up\r\nSome thoughts first.\r\n\r\n## risks:\r\n* none *really*\r\n  but mind the cat\r\n\
## Notes\r\n\r\n```\r\n## Steps\r\n- [ ] 9. not a step\r\n```\r\n## STEPS\r\n\r\n* [X] sweep\r\n     - **Reason:** dust\r\n     - files:\r\n         - `src/a b.rs`\r\n         - src/c.rs\r\n\
2. wash\r\nreason: it smells\r\n   verify: `make clean`\r\n\r\nThat is all.\r\n\r\n## Steps of others\r\n- [ ] 1. theirs";

#[test]
fn boxes_right_below_the_goal_are_steps_and_ticking_one_changes_its_line_only() {
    let text = "# Plan\nSome words.\n- [ ] one\n- [ ] two\n\n## Notes\n\nMine.\n";
    let mut document = PlanDocument::parse(text).unwrap();
    assert_eq!(document.plan.steps.iter().map(|step| step.action.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(document.render(), text);
    document.set_step(2, StepStatus::Done).unwrap();
    assert_eq!(document.render(), text.replace("- [ ] two", "- [x] two"));
}

#[test]
fn a_file_written_by_hand_is_read_with_tolerance() {
    let document = PlanDocument::parse(BY_HAND).unwrap();
    let plan = &document.plan;
    assert_eq!(
        (plan.goal.as_str(), document.status, document.chat.as_deref(), document.revision),
        ("Tidy up", PlanFileStatus::Draft, None, 1)
    );
    assert_eq!(plan.risks, ["none *really*\nbut mind the cat"]);
    let sweep = PlanStep {
        reason: "dust".to_owned(),
        files: vec!["src/a b.rs".to_owned(), "src/c.rs".to_owned()],
        status: StepStatus::Done,
        ..step(1, "sweep")
    };
    let wash = PlanStep { reason: "it smells".to_owned(), verify: Some("make clean".to_owned()), ..step(2, "wash") };
    assert_eq!(plan.steps, [sweep, wash]);
    assert_eq!(document.render(), BY_HAND);
}

#[test]
fn ticking_a_box_changes_its_line_and_nothing_else() {
    let mut document = PlanDocument::parse(BY_HAND).unwrap();
    document.set_step(2, StepStatus::InProgress).unwrap();
    assert_eq!(document.render(), BY_HAND.replace("2. wash", "2. [~] wash"));
    document.set_step(1, StepStatus::Skipped).unwrap();
    assert_eq!(document.render(), BY_HAND.replace("2. wash", "2. [~] wash").replace("[X]", "[-]"));
    document.set_step(1, StepStatus::Done).unwrap();
    document.set_step(2, StepStatus::Pending).unwrap();
    assert_eq!(document.render(), BY_HAND);
    let problem = document.set_step(3, StepStatus::Done).unwrap_err();
    assert!(problem.message.contains("Its steps are 1 to 2"), "{}", problem.message);
}

#[test]
fn a_new_status_changes_its_line_and_keys_of_others_stay() {
    let text = "---\n# mine\nowner: {name: Ann, tags: [a, b]}\nstatus:   draft  # for now\ngoal: >\n  Tidy\n  up\n\nrevision: 3\n---\n## Steps\n- [ ] sweep\n";
    let mut document = PlanDocument::parse(text).unwrap();
    assert_eq!((document.plan.goal.as_str(), document.revision), ("Tidy up\n", 3));
    document.status = PlanFileStatus::InProgress;
    assert_eq!(document.render(), text.replace("status:   draft  # for now", "status: in_progress"));
    document.plan.goal = "Tidy: all".to_owned();
    document.chat = Some("c".to_owned());
    let expected = "---\n# mine\nowner: {name: Ann, tags: [a, b]}\nstatus: in_progress\ngoal: \"Tidy: all\"\n\nrevision: 3\nchat: c\n---\n## Steps\n- [ ] sweep\n";
    assert_eq!(document.render(), expected);
}

#[test]
fn frontmatter_without_a_line_per_key_is_written_anew_with_the_keys_of_others() {
    let mut document = PlanDocument::parse("---\n{goal: Tidy, owner: {name: Ann}}\n---\n## Steps\n- [ ] sweep\n").unwrap();
    document.revision = 2;
    let text = document.render();
    assert!(text.contains("owner:") && text.contains("Ann"), "{text}");
    let read = PlanDocument::parse(&text).unwrap();
    assert_eq!((read.plan.goal.as_str(), read.revision), ("Tidy", 2));
}

#[test]
fn a_revised_plan_goes_into_the_file_and_sections_of_the_user_stay_in_their_place() {
    let mut document = PlanDocument::parse(BY_HAND).unwrap();
    document.plan.risks = vec![];
    document.plan.validation = vec!["it shines".to_owned()];
    document.plan.steps.push(step(3, "dry"));
    document.plan.goal = "Tidy up well".to_owned();
    document.revision = 2;
    let expected = "\u{feff}---\r\ngoal: Tidy up well\r\nstatus: draft\r\nrevision: 2\r\n---\r\n\r\nPlans for the week\r\n\r\n# Tidy up well\r\nSome thoughts first.\r\n\r\n\
## Notes\r\n\r\n```\r\n## Steps\r\n- [ ] 9. not a step\r\n```\r\n## STEPS\r\n\r\n* [X] sweep\r\n     - **Reason:** dust\r\n     - files:\r\n         - `src/a b.rs`\r\n         - src/c.rs\r\n\
2. wash\r\nreason: it smells\r\n   verify: `make clean`\r\n- [ ] 3. dry\r\n\r\nThat is all.\r\n\r\n## Validation\r\n\r\n- it shines\r\n\r\n## Steps of others\r\n- [ ] 1. theirs";
    assert_eq!(document.render(), expected);
    assert_eq!(PlanDocument::parse(expected).unwrap().plan, document.plan);
}

#[test]
fn a_file_too_large_or_with_aliases_that_unfold_is_refused() {
    let large = format!("# goal\n## Steps\n- [ ] 1. {}\n", "x".repeat(MAX_PLAN_BYTES));
    assert!(PlanDocument::parse(&large).unwrap_err()[0].message.contains("1 MiB"));
    let mut bomb = "---\ngoal: x\na: &a [x, x]\n".to_owned();
    for pair in ["ab", "bc", "cd", "de", "ef"] {
        let (from, to) = pair.split_at(1);
        writeln!(bomb, "{to}: &{to} [{}]", vec![format!("*{from}"); 20].join(", ")).unwrap();
    }
    bomb.push_str("---\n## Steps\n- [ ] 1. y\n");
    assert!(PlanDocument::parse(&bomb).unwrap_err()[0].message.contains("frontmatter"));
}

#[test]
fn a_large_plan_is_read_and_linted_in_linear_time() {
    let names: String = (0..12_000).map(|number| format!("../{number}, ")).collect();
    for filler in [
        "\n",
        "## a\n",
        "## Risks\n",
        "- [ ] 1. a\n",
        "- [\n",
        "- \"\n",
        "files: {,\n",
        "  files: `a, \"\n",
        "~~~\n",
        "  - a\n",
        "\t",
        &names,
    ] {
        let begun = Instant::now();
        let mut text = "# goal\n## Steps\n- [ ] 1. a\n".to_owned();
        // Half of what may be, as numbering the steps anew makes it longer.
        text.extend(filler.chars().cycle().take(MAX_PLAN_BYTES / 2));
        assert!(lint(&text).len() <= 201);
        if let Ok(mut document) = PlanDocument::parse(&text) {
            document.set_step(1, StepStatus::Done).unwrap();
            assert!(PlanDocument::parse(&document.render()).is_ok());
        }
        // Seconds even on a busy machine; work that grows with the square takes minutes.
        assert!(begun.elapsed() < Duration::from_mins(1), "{:?} took {:?}", &filler[..filler.len().min(9)], begun.elapsed());
    }
}

/// Beside each `NAME.plan` lie its `NAME.findings`. `UPDATE_GOLDEN=1 cargo test` writes them anew.
#[test]
fn each_sample_has_the_findings_that_lie_beside_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/plans");
    let mut samples: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.retain(|path| path.extension().is_some_and(|extension| extension == "plan"));
    samples.sort();
    assert!(!samples.is_empty());
    let mut differences = String::new();
    for sample in samples {
        let text = std::fs::read_to_string(&sample).unwrap();
        let found: String = lint(&text).iter().fold(String::new(), |mut all, finding| {
            let word = if finding.gravity == Gravity::Error { "error " } else { "" };
            writeln!(all, "{word}{finding}").unwrap();
            all
        });
        let golden = sample.with_extension("findings");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        if found != expected {
            writeln!(differences, "{}", sample.display()).unwrap();
            expected
                .lines()
                .filter(|line| !found.lines().any(|other| other == *line))
                .for_each(|line| writeln!(differences, "  - {line}").unwrap());
            found
                .lines()
                .filter(|line| !expected.lines().any(|other| other == *line))
                .for_each(|line| writeln!(differences, "  + {line}").unwrap());
        }
    }
    assert!(differences.is_empty(), "\n{differences}");
}

/// Text made of what has a meaning somewhere in the file.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = concat!(
        "a¦word¦é漢¦👩‍💻¦ ¦  ¦    ¦\n¦\n\n¦\r\n¦\t¦# ¦## Steps¦- ¦* ¦- [ ] 1. ¦[x] ¦1. ¦reason: ¦- **Files:** ¦files:¦",
        "tool:¦verify:¦owner: ¦\"¦\"a\"¦'¦`¦`a`¦\\¦\\n¦,¦, ¦{¦}¦{a,b}¦---¦...¦```¦<!--¦: ¦:¦ #¦~¦null¦&a¦*a¦!x¦%¦@¦|¦>¦",
        "\u{202e}¦\u{2028}¦\u{a0}¦\u{feff}¦\u{0}¦\u{7f}¦\u{85}¦0¦1e3"
    );
    prop_oneof![
        4 => proptest::collection::vec(proptest::sample::select(pieces.split('¦').collect::<Vec<_>>()), 0..6).prop_map(|pieces| pieces.concat()),
        1 => proptest::collection::vec(any::<char>(), 0..8).prop_map(|chars| chars.into_iter().collect()),
    ]
}

fn any_names() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(any_text(), 0..4)
}

fn any_status() -> impl Strategy<Value = StepStatus> {
    proptest::sample::select(&[StepStatus::Pending, StepStatus::InProgress, StepStatus::Done, StepStatus::Skipped][..])
}

prop_compose! {
    fn any_step()(
        action in any_text().prop_filter("says something", |text| !text.trim().is_empty()), reason in any_text(), tools_needed in any_names(),
        estimated_time in proptest::option::of(any_text()), files in any_names(), verify in proptest::option::of(any_text()), status in any_status(),
    ) -> PlanStep {
        PlanStep { step_number: 0, action, reason, tools_needed, estimated_time, files, verify, status }
    }
}

prop_compose! {
    fn any_plan()(
        goal in any_text().prop_filter("says something", |text| !text.trim().is_empty()), steps in proptest::collection::vec(any_step(), 1..4),
        estimated_total_time in proptest::option::of(any_text()), risks in any_names(), prerequisites in any_names(), assumptions in any_names(), validation in any_names(),
    ) -> Plan {
        let steps = steps.into_iter().zip(1..).map(|(step, step_number)| PlanStep { step_number, ..step }).collect();
        Plan { goal, steps, estimated_total_time, risks, prerequisites, assumptions, validation }
    }
}

/// Files that look like plans, more or less.
fn any_file() -> impl Strategy<Value = String> {
    let lines = concat!(
        "---¦goal: g¦status: done¦status: odd¦chat: c¦owner: [1, 2]¦{goal: g}¦# goal¦# other¦## Steps¦## Steps¦",
        "## steps:¦## Risks¦## Notes¦### Steps¦¦¦  ¦- [ ] 1. a¦- [x] 2. b¦* [X] c¦  - [~] 3. d¦   - [ ] e¦4) [?] f¦1. g¦",
        "- h¦  reason: r¦    more¦\tfiles: a, `b,c`¦      files:¦        - x¦  - **Verify**: `v`¦files: {a,b}¦",
        "owner: Ann¦  owner: Ann¦text¦```¦~~~ info¦<!-- c -->¦- \"q\"¦-¦> quote¦***"
    );
    let line = prop_oneof![8 => proptest::sample::select(lines.split('¦').collect::<Vec<_>>()).prop_map(str::to_owned), 1 => any_text()];
    let start = proptest::sample::select(&["", "", "\u{feff}", "---\ngoal: g\nowner: x\n---\n", "# goal\n\n## Steps\n\n- [ ] 1. a\n"][..]);
    let end = proptest::sample::select(&["\n", "\r\n"][..]);
    (start, proptest::collection::vec((line, end), 0..14)).prop_map(|(start, lines)| {
        let body: String = lines.into_iter().map(|(line, end)| line + end).collect();
        format!("{start}{body}")
    })
}

const MINE: &str = "\n## Mine \n\n\tkept  \r\n- [ ] 1. as it is";

fn is_plan(text: &str) -> bool {
    lint(text).iter().all(|finding| finding.gravity == Gravity::Warning)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_plan_reads_back_from_its_file(plan in any_plan(), chat in proptest::option::of(any_text()), revision in any::<u32>()) {
        let document = PlanDocument::new(plan, chat, revision);
        let text = document.render();
        let read = PlanDocument::parse(&text).unwrap();
        prop_assert_eq!(&read.plan, &document.plan, "{}", text);
        prop_assert_eq!((&read.chat, read.revision, read.status), (&document.chat, revision, PlanFileStatus::Draft));
        prop_assert_eq!(read.render(), text);
    }

    #[test]
    fn a_file_that_can_be_read_is_written_back_byte_for_byte(text in any_file()) {
        let read = PlanDocument::parse(&text);
        prop_assert_eq!(read.is_ok(), is_plan(&text));
        if let Ok(document) = read {
            check(&document.plan).unwrap();
            prop_assert_eq!(document.render(), text);
        }
    }

    #[test]
    fn a_changed_plan_reads_back_from_any_file_it_is_written_into(text in any_file(), plan in any_plan(), status in any_status(), chat in proptest::option::of(any_text())) {
        let text = text + MINE;
        let Ok(before) = PlanDocument::parse(&text) else { return Ok(()) };
        let finds = |words: &str| lint(&text).iter().any(|finding| finding.message.contains(words));

        let mut ticked = before.clone();
        ticked.set_step(1, status).unwrap();
        let read = PlanDocument::parse(&ticked.render()).unwrap();
        prop_assert_eq!(&read.plan, &ticked.plan, "{}", text);
        if !finds("number the steps") {
            let written = ticked.render();
            let differ = text.split('\n').zip(written.split('\n')).filter(|(before, after)| before != after).count();
            prop_assert!(differ <= 1 && text.split('\n').count() == written.split('\n').count(), "{}\n{}", text, written);
        }

        let approved = before.sha256();
        ticked.status = PlanFileStatus::InProgress;
        prop_assert_eq!(PlanDocument::parse(&ticked.render()).unwrap().sha256(), approved.clone(), "progress makes no other plan: {}", text);
        let mut reworded = before.clone();
        reworded.plan.steps[0].action.push_str(" and more");
        prop_assert_ne!(reworded.sha256(), approved, "{}", text);

        let mut changed = before;
        changed.chat = chat;
        changed.status = PlanFileStatus::Approved;
        let read = PlanDocument::parse(&changed.render()).unwrap();
        prop_assert_eq!((&read.plan, &read.chat, read.status), (&changed.plan, &changed.chat, changed.status), "{}", text);

        changed.plan = plan;
        let written = changed.render();
        let read = PlanDocument::parse(&written).unwrap();
        prop_assert_eq!((&read.plan, &read.chat, read.status), (&changed.plan, &changed.chat, changed.status), "{}\n{}", text, written);
        prop_assert!(finds("never closed") || written.contains(MINE), "{}\n{}", text, written);
    }
}
