//! Calls of one reply that change nothing, made at the same time. Their results are stored in the order of the calls.

use super::{Carried, Judged, carry_out, conclude, finish, judge, updated};
use crate::chat::{Change, Chat};
use crate::tally;
use futures::{Stream, StreamExt};
use planwright_protocol::message::CallStatus;
use planwright_protocol::{CallMessage, Event, Message, Problem};
use planwright_tools::tool::tool_named;
use planwright_tools::{Output, Permit, Prepared};
use std::collections::VecDeque;
use std::sync::Arc;

/// So many at a time: each may hold a thread and a file.
const AT_ONCE: usize = 8;

/// Takes the calls that may be made now: the next one, with those behind it as long as all of them only read.
pub fn take_together(open: &mut VecDeque<CallMessage>) -> Vec<CallMessage> {
    let reading = open.iter().take_while(|call| only_reads(call)).count();
    open.drain(..reading.max(1).min(open.len())).collect()
}

/// Asking changes nothing either, but ends the turn.
fn only_reads(call: &CallMessage) -> bool {
    tool_named(&call.body.tool).is_ok_and(|tool| tool.spec().read_only && tool.spec().name != "ask_user")
}

/// What is left to do about a call that was judged.
enum Work {
    Make(Prepared, Permit),
    Tell(Problem, Box<Change>),
}

/// Carries out what [`take_together`] gave.
pub async fn carry_out_together(chat: &Arc<Chat>, mut calls: Vec<CallMessage>, history: &[Message]) -> Result<Carried, Problem> {
    if calls.len() <= 1 {
        return match calls.pop() {
            Some(call) => Box::pin(carry_out(chat, call, history)).await,
            None => Ok(Carried::Done(Vec::new())),
        };
    }
    let (mut ready, mut asks) = (Vec::new(), None);
    for call in calls {
        match judge(chat, &call, history).await? {
            Judged::Allowed(prepared, permit) => {
                tally::judged("allowed");
                ready.push((call.with_status(CallStatus::Running), Work::Make(prepared, permit)));
            }
            Judged::Refused(problem, change) => {
                tally::judged("denied");
                ready.push((call, Work::Tell(problem, change)));
            }
            // The user's word comes first; what is behind it waits.
            Judged::Asks(..) => {
                asks = Some(call);
                break;
            }
        }
    }
    let made: Vec<Event> = ready.iter().filter(|(_, work)| matches!(work, Work::Make(..))).map(|(call, _)| updated(call)).collect();
    chat.tell(made);
    let mut happened = Vec::new();
    let mut outcomes = in_order(ready.into_iter().map(|(call, work)| make(chat.clone(), call, work)));
    while let Some(made) = outcomes.next().await {
        let carried = match made? {
            (call, Made::Outcome(outcome)) => Box::pin(conclude(chat, &call, outcome, history)).await?,
            (call, Made::Refused(problem, change)) => finish(chat, &call, Err(problem), *change).await?,
        };
        match carried {
            Carried::Done(messages) => happened.extend(messages),
            Carried::Asked(messages) => {
                happened.extend(messages);
                return Ok(Carried::Asked(happened));
            }
            // What only reads hands nothing on.
            Carried::HandedOn(_) => {}
        }
    }
    let Some(call) = asks else { return Ok(Carried::Done(happened)) };
    Ok(match Box::pin(carry_out(chat, call, history)).await? {
        Carried::Done(messages) => Carried::Done([happened, messages].concat()),
        Carried::Asked(messages) => Carried::Asked([happened, messages].concat()),
        handed_on @ Carried::HandedOn(_) => handed_on,
    })
}

/// Does works at the same time, and gives what came of each in their order.
fn in_order<W: Future>(works: impl Iterator<Item = W>) -> impl Stream<Item = W::Output> {
    futures::stream::iter(works).buffered(AT_ONCE)
}

enum Made {
    Outcome(Result<Output, Problem>),
    Refused(Problem, Box<Change>),
}

async fn make(chat: Arc<Chat>, call: CallMessage, work: Work) -> Result<(CallMessage, Made), Problem> {
    let made = match work {
        Work::Make(prepared, permit) => Made::Outcome(chat.carry(move || prepared.commit(&permit)).await?),
        Work::Tell(problem, change) => Made::Refused(problem, change),
    };
    Ok((call, made))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn as_many_works_as_allowed_are_under_way_at_once_and_end_in_their_order() {
        let (all_here, under_way, most) = (Arc::new(Barrier::new(AT_ONCE)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let work = |number: usize| {
            let (all_here, under_way, most) = (all_here.clone(), under_way.clone(), most.clone());
            tokio::task::spawn_blocking(move || {
                most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // Nobody gets past it alone.
                all_here.wait();
                under_way.fetch_sub(1, Ordering::SeqCst);
                number
            })
        };
        let done: Vec<usize> = in_order((0..3 * AT_ONCE).map(work)).map(Result::unwrap).collect().await;
        assert_eq!(done, (0..3 * AT_ONCE).collect::<Vec<_>>());
        assert_eq!(most.load(Ordering::SeqCst), AT_ONCE);
    }
}
