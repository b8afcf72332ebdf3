//! Questions to the user: parsed from the model's JSON, with validated answers.
//!
//! | module | purpose |
//! | --- | --- |
//! | `parse` | parses the model's JSON, of either form, into questions |
//! | [`card`] | the server's own questions, and how to read their answers |
//! | `schema` | compiles and applies a model's schema within limits |
//! | `extent`, `pattern` | reject a schema that would cost too much |
//! | `answer` | checks answers against their questions |
//! | `wording` | words a schema's complaint for people |
//! | `text` | shows answers as one line of the chat |
//! | `findings` | collects all mistakes of one check into one error |
//! | `hostile` | tests with hostile schemas |
//!
//! Invariants: a schema is never fetched from anywhere, never refers back to itself, and is bounded in size before it is
//! compiled. An answer is bounded before it is checked. Schemas come from the model and count as hostile.

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
pub use card::{plan_is_approved, read_decision, read_stop_decision};
pub use extent::{MAX_DEPTH, MAX_SCHEMA_NODES};
pub use parse::{MAX_QUESTIONS, parse_batch, parse_question_json, to_question_json};
pub use schema::MAX_SCHEMA_BYTES;
pub use text::{answer_text, answers_in_full};
