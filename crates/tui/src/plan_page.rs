//! The page of the plan: its steps, comments on them, and what to execute.

use crate::request::{AppCommand, ChatChange, ChatPlace, EditPurpose};
use crate::text_field::{Lines, TextField};
use crate::viewport::Viewport;
use crossterm::event::{KeyCode, KeyEvent};
use planwright_protocol::api::plan::PlanFileView;
use planwright_protocol::api::requests::{CommentBody, ExecuteBody};
use planwright_protocol::{Plan, StepStatus};
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct PlanPage {
    pub view: Option<PlanFileView>,
    /// Why there is none.
    pub problem: Option<String>,
    /// The index of the selected step.
    pub selected: usize,
    /// Steps that are folded out, by number.
    pub open: BTreeSet<u32>,
    pub skipped: BTreeSet<u32>,
    pub stop_after: Option<u32>,
    pub comments: Vec<CommentBody>,
    /// The comment that is being written on the selected step.
    pub writing: Option<TextField>,
    pub window: Viewport,
    next_comment: usize,
}

/// What a key on the page led to.
#[derive(Clone, Debug)]
pub enum PlanOutcome {
    Stay,
    Close,
    Do(AppCommand),
    /// Executing with comments that were not sent needs a yes.
    AskToExecute(ExecuteBody),
    Say(&'static str),
}

impl PlanPage {
    /// Shows another state of the plan. Choices and comments stay while it is the same version.
    pub fn show(&mut self, view: PlanFileView) {
        if self.view.as_ref().is_none_or(|known| known.sha256 != view.sha256) {
            self.skipped.clear();
            self.stop_after = None;
            let count = view.plan.as_ref().map_or(0, |plan| plan.steps.len());
            self.selected = self.selected.min(count.saturating_sub(1));
        }
        self.problem = None;
        self.view = Some(view);
    }

    fn plan(&self) -> Option<&Plan> {
        self.view.as_ref()?.plan.as_ref()
    }

    #[must_use]
    pub fn selected_number(&self) -> Option<u32> {
        self.plan()?.steps.get(self.selected).map(|step| step.step_number)
    }

    /// The numbers of the steps to execute.
    #[must_use]
    pub fn chosen(&self) -> Vec<u32> {
        let steps = self.plan().map(|plan| plan.steps.as_slice()).unwrap_or_default();
        let is_open = |step: &&planwright_protocol::PlanStep| !step.status.is_finished() && !self.skipped.contains(&step.step_number);
        let is_before_stop = |step: &&planwright_protocol::PlanStep| self.stop_after.is_none_or(|stop| step.step_number <= stop);
        steps.iter().filter(is_open).filter(is_before_stop).map(|step| step.step_number).collect()
    }

    /// The button's words: what would be executed.
    #[must_use]
    pub fn execute_label(&self) -> String {
        let chosen = self.chosen();
        let total = self.plan().map_or(0, |plan| plan.steps.len());
        match chosen.as_slice() {
            [] => "Nothing to execute".to_owned(),
            all if all.len() == total && total > 1 => format!("Execute all {total} steps"),
            [one] => format!("Execute step {one}"),
            [first, .., last] if usize::try_from(last - first).is_ok_and(|span| span + 1 == chosen.len()) => {
                format!("Execute steps {first} to {last}")
            }
            several => format!("Execute {} of {total} steps", several.len()),
        }
    }

    fn execute_body(&self) -> Option<ExecuteBody> {
        let view = self.view.as_ref()?;
        let chosen = self.chosen();
        if chosen.is_empty() {
            return None;
        }
        let is_part = !self.skipped.is_empty() || view.plan.as_ref()?.steps.iter().any(|step| step.status == StepStatus::Skipped);
        // The stop is the server's to keep; without one the later steps stay chosen.
        let without_stop: Vec<u32> = view.plan.as_ref()?.steps.iter().map(|step| step.step_number).collect();
        let steps: Vec<u32> = without_stop.into_iter().filter(|number| !self.skipped.contains(number)).collect();
        Some(ExecuteBody {
            plan_sha256: Some(view.sha256.clone()),
            steps: is_part.then_some(steps),
            stop_after: self.stop_after,
            ..ExecuteBody::default()
        })
    }

    pub fn key(&mut self, key: KeyEvent, place: ChatPlace) -> PlanOutcome {
        if self.writing.is_some() {
            self.key_in_comment(key);
            return PlanOutcome::Stay;
        }
        let count = self.plan().map_or(0, |plan| plan.steps.len());
        let number = self.selected_number();
        match (key.code, key.modifiers) {
            (KeyCode::Esc | KeyCode::Char('q'), _) => return PlanOutcome::Close,
            (KeyCode::Down | KeyCode::Char('j'), _) => self.select((self.selected + 1).min(count.saturating_sub(1))),
            (KeyCode::Up | KeyCode::Char('k'), _) => self.select(self.selected.saturating_sub(1)),
            (KeyCode::Home, _) => self.select(0),
            (KeyCode::End, _) => self.select(count.saturating_sub(1)),
            (KeyCode::PageDown, _) => self.window.down(self.window.page()),
            (KeyCode::PageUp, _) => self.window.up(self.window.page()),
            (KeyCode::Enter, _) => number.into_iter().for_each(|number| toggle(&mut self.open, number)),
            (KeyCode::Char('o'), _) => self.toggle_all(),
            (KeyCode::Char(' ' | 's'), _) => number.into_iter().for_each(|number| toggle(&mut self.skipped, number)),
            (KeyCode::Char('t'), _) => self.stop_after = number.filter(|number| self.stop_after != Some(*number)),
            (KeyCode::Char('c'), _) => self.begin_comment(),
            (KeyCode::Char('d'), _) => self.comments.retain(|comment| comment.step != number),
            (KeyCode::Char('r'), _) => return self.request_changes(place),
            (KeyCode::Char('e'), _) => return self.edit(),
            (KeyCode::Char('x'), _) => return self.execute(place),
            _ => {}
        }
        PlanOutcome::Stay
    }

    fn select(&mut self, step: usize) {
        self.selected = step;
        self.window.hold();
    }

    fn toggle_all(&mut self) {
        let numbers: BTreeSet<u32> = self.plan().into_iter().flat_map(|plan| &plan.steps).map(|step| step.step_number).collect();
        self.open = if self.open.is_empty() { numbers } else { BTreeSet::new() };
    }

    fn begin_comment(&mut self) {
        let present = self.comments.iter().find(|comment| comment.step == self.selected_number());
        self.writing = Some(TextField::with(Lines::Many, present.map_or("", |comment| comment.text.as_str())));
    }

    fn key_in_comment(&mut self, key: KeyEvent) {
        let step = self.selected_number();
        let Some(field) = &mut self.writing else { return };
        if key.code == KeyCode::Esc {
            self.writing = None;
        } else if key.code == KeyCode::Enter && key.modifiers.is_empty() {
            let text = field.content().trim().to_owned();
            self.writing = None;
            self.comments.retain(|comment| comment.step != step);
            if !text.is_empty() {
                self.next_comment += 1;
                let id = format!("c{}", self.next_comment);
                self.comments.push(CommentBody { id, step, path: None, lines: None, quote: String::new(), text });
            }
        } else {
            field.key(key);
        }
    }

    fn request_changes(&mut self, place: ChatPlace) -> PlanOutcome {
        if self.comments.is_empty() {
            return PlanOutcome::Say("Comment on a step first: press c.");
        }
        let comments = std::mem::take(&mut self.comments);
        PlanOutcome::Do(ChatChange::Send { content: "Please revise the plan.".to_owned(), comments }.of(place).into())
    }

    fn edit(&self) -> PlanOutcome {
        match &self.view {
            Some(view) => {
                let purpose = EditPurpose::Plan { base_sha256: view.sha256.clone() };
                PlanOutcome::Do(AppCommand::Edit { purpose, text: view.content.clone() })
            }
            None => PlanOutcome::Say("There is no plan to edit yet."),
        }
    }

    fn execute(&self, place: ChatPlace) -> PlanOutcome {
        match self.execute_body() {
            None => PlanOutcome::Say("No step is chosen. Press Space on a step to choose it."),
            Some(body) if !self.comments.is_empty() => PlanOutcome::AskToExecute(body),
            Some(body) => PlanOutcome::Do(ChatChange::Execute(body).of(place).into()),
        }
    }
}

fn toggle(set: &mut BTreeSet<u32>, number: u32) {
    if !set.remove(&number) {
        set.insert(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::ServerRequest;
    use crossterm::event::KeyModifiers;
    use planwright_protocol::{ChatId, PlanStep, WorkspaceId};

    fn page(steps: u32) -> PlanPage {
        let step = |step_number| PlanStep { step_number, action: format!("Do {step_number}"), ..PlanStep::default() };
        let plan = Plan { goal: "Goal".to_owned(), steps: (1..=steps).map(step).collect(), ..Plan::default() };
        let mut page = PlanPage::default();
        page.show(PlanFileView {
            plan_file: "/plans/goal.plan".to_owned(),
            sha256: "abc".to_owned(),
            content: "# Goal".to_owned(),
            plan: Some(plan),
            revision: Some(1),
            status: None,
            findings: Vec::new(),
            approved_sha256: None,
        });
        page
    }

    fn press(page: &mut PlanPage, codes: &[KeyCode]) -> PlanOutcome {
        let place = ChatPlace { workspace: WorkspaceId::generate(), chat: ChatId::generate() };
        codes.iter().map(|code| page.key(KeyEvent::new(*code, KeyModifiers::NONE), place)).last().unwrap()
    }

    fn change(outcome: PlanOutcome) -> ChatChange {
        let PlanOutcome::Do(AppCommand::Ask(ServerRequest::Change { change, .. })) = outcome else { panic!("{outcome:?}") };
        *change
    }

    #[test]
    fn the_button_says_which_steps_it_executes() {
        let mut page = page(4);
        assert_eq!(page.execute_label(), "Execute all 4 steps");
        press(&mut page, &[KeyCode::Char('j'), KeyCode::Char('t')]);
        assert_eq!(page.execute_label(), "Execute steps 1 to 2");
        press(&mut page, &[KeyCode::Char('t'), KeyCode::Char(' ')]);
        assert_eq!(page.execute_label(), "Execute 3 of 4 steps");
        let ChatChange::Execute(body) = change(press(&mut page, &[KeyCode::Char('x')])) else { panic!() };
        assert_eq!((body.steps, body.plan_sha256.as_deref()), (Some(vec![1, 3, 4]), Some("abc")));
    }

    #[test]
    fn a_stop_goes_to_the_server_as_a_stop() {
        let mut page = page(3);
        let ChatChange::Execute(body) = change(press(&mut page, &[KeyCode::Char('t'), KeyCode::Char('x')])) else { panic!() };
        assert_eq!((body.steps, body.stop_after), (None, Some(1)));
    }

    #[test]
    fn comments_are_collected_and_go_out_together() {
        let mut page = page(2);
        assert!(matches!(press(&mut page, &[KeyCode::Char('r')]), PlanOutcome::Say(_)));
        for (text, next) in [("ab", KeyCode::Char('j')), ("c", KeyCode::Char('k'))] {
            press(&mut page, &[KeyCode::Char('c')]);
            text.chars().for_each(|letter| {
                press(&mut page, &[KeyCode::Char(letter)]);
            });
            press(&mut page, &[KeyCode::Enter, next]);
        }
        assert!(matches!(press(&mut page, &[KeyCode::Char('x')]), PlanOutcome::AskToExecute(_)), "unsent comments are asked about");
        let ChatChange::Send { comments, .. } = change(press(&mut page, &[KeyCode::Char('r')])) else { panic!() };
        let sent: Vec<_> = comments.iter().map(|comment| (comment.step, comment.text.as_str())).collect();
        assert_eq!(sent, [(Some(1), "ab"), (Some(2), "c")]);
        assert!(page.comments.is_empty());
    }
}
