//! Questions to the user: read from the model's JSON, and their answers checked.
//!
//! | module | what it does |
//! | --- | --- |
//! | `parse` | the model's JSON, of either form, to questions |
//! | [`card`] | the server's own questions, and what their answers mean |
//! | `schema` | compiles and applies a model's schema within limits |
//! | `extent`, `pattern` | refuse a schema that would cost too much |
//! | `answer` | answers against their questions |
//! | `wording` | a schema's complaint, as a person would say it |
//! | `text` | answers as one line of the chat |
//! | `findings` | all complaints of one check, as one error |
//! | `hostile` | tests with schemas that were written to do harm |
//!
//! Invariants: a schema is never fetched from anywhere, never refers back to itself, and is bounded in
//! size before it is compiled; an answer is bounded before it is checked. Schemas come from the model
//! and are hostile until proven otherwise.

mod answer;
pub mod card;
mod extent;
mod findings;
#[cfg(test)]
mod hostile;
mod parse;
mod pattern;
mod schema;
mod text;
mod wording;

pub use answer::{MAX_ANSWER_BYTES, default_answer, read_answers, validate_answers};
pub use card::{plan_is_approved, read_decision};
pub use extent::{MAX_DEPTH, MAX_SCHEMA_NODES};
pub use parse::{MAX_QUESTIONS, parse_batch, parse_question_json, to_question_json};
pub use schema::MAX_SCHEMA_BYTES;
pub use text::{answer_text, answers_in_full};
