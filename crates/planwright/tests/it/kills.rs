//! The life of a chat, killed anywhere, driven to its end: nothing acknowledged is lost, nothing is done twice.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`life`] | the script, and a user who goes on from whatever is there |
//! | [`check`] | what must hold at the end |
//!
//! How often is up to the environment; `make torture` does the long form.

mod check;
mod life;

use life::{Life, Planned};
use planwright_chat::crash::POINTS;
use planwright_testkit::chance::Chance;
use planwright_testkit::guard::announce;
use planwright_testkit::postgres::Database;
use planwright_testkit::server::{Home, Server};
use std::time::Duration;

/// How often a life ends at each point; each time one passage later, as long as there are more.
const ROUNDS: &str = "PLANWRIGHT_CRASH_ROUNDS";
/// How many times a server is killed at a random moment, over all tests that do so.
const KILLS: &str = "PLANWRIGHT_RANDOM_KILLS";
/// Where the random moments come from; a failed run is repeated with the seed that it printed.
const SEED: &str = "PLANWRIGHT_KILL_SEED";
/// The same on PostgreSQL, where the short form only tries a few.
const POSTGRES_ROUNDS: &str = "PLANWRIGHT_CRASH_ROUNDS_POSTGRES";
const POSTGRES_KILLS: &str = "PLANWRIGHT_RANDOM_KILLS_POSTGRES";
/// Longer than a life takes by itself, so that its end is killed as well.
const LONGEST_WAIT: u64 = 2500;
/// Then a life is left to end, so that it does.
const MOST_KILLS: u64 = 5;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Two points are only passed when a server comes back from a crash.
fn first_deaths(point: &str) -> Vec<String> {
    match point {
        "run_resumed" | "recovery_begun" => vec!["effect_done".to_owned()],
        _ => Vec::new(),
    }
}

/// Whether the model writes its plan with a call, or tells it.
fn planned(point: &str) -> Planned {
    if matches!(point, "plan_intended" | "plan_written") { Planned::Told } else { Planned::ByCall }
}

/// One life that dies at each of these in turn; how often it did.
async fn live(mut life: Life, deaths: Vec<String>) -> usize {
    let mut died = 0;
    let mut deaths = deaths.into_iter();
    loop {
        let death = deaths.next();
        let server = life.serve(death.as_deref()).await;
        if let Some(server) = &server {
            life.follow(server);
            if life.go_on(server).await.is_ok() {
                break;
            }
        }
        died += 1;
        assert!(death.is_some(), "the server died by itself");
        if let Some(server) = server {
            assert!(!server.ended().await);
        }
        life.check_numbers().await;
    }
    died
}

async fn at_points(share: usize, of: usize, rounds: u64, database: fn() -> Option<Database>) {
    // A life takes nothing back; the kills of that have tests of their own.
    let passed = POINTS.iter().filter(|point| !point.starts_with("revert_"));
    for point in passed.skip(share).step_by(of) {
        let (mut passage, mut most) = (1, u64::MAX);
        let mut deaths = 0;
        while deaths < rounds {
            let mut planned_deaths = first_deaths(point);
            planned_deaths.push(format!("{point}:{passage}"));
            let wanted = planned_deaths.len();
            let died = live(Life::new(planned(point), database()), planned_deaths).await;
            assert!(died == wanted || passage > 1, "{point} was never passed");
            if died == wanted {
                deaths += 1;
            } else {
                most = passage - 1;
            }
            passage = if passage < most { passage + 1 } else { 1 };
        }
        announce(&format_args!("{point}: {deaths} deaths, at {} passages", most.min(deaths)));
    }
}

async fn at_random(share: u64, kills: u64, database: fn() -> Option<Database>) {
    let mut chance = Chance(number(SEED, Chance::of_now().0).wrapping_add(share));
    let (mut done, mut lives) = (0, 0);
    while done < kills {
        announce(&format_args!("life {lives}: {SEED}={}", chance.0.wrapping_sub(share)));
        let planned = if chance.below(2) == 0 { Planned::Told } else { Planned::ByCall };
        done += killed_at_random(&mut Life::new(planned, database()), (kills - done).min(MOST_KILLS), &mut chance).await;
        lives += 1;
    }
    announce(&format_args!("{done} kills in {lives} lives"));
}

/// A life that ends well all the same; where it was lived.
pub async fn survives_random_kills(kills: u64) -> Home {
    let mut life = Life::new(Planned::ByCall, None);
    killed_at_random(&mut life, kills, &mut Chance::of_now()).await;
    life.home
}

async fn killed_at_random(life: &mut Life, most: u64, chance: &mut Chance) -> u64 {
    let mut killed = 0;
    loop {
        let server = life.serve(None).await.unwrap();
        life.follow(&server);
        let wait = if killed < most { Duration::from_millis(chance.below(LONGEST_WAIT)) } else { planwright_testkit::PATIENCE };
        let over = tokio::select! {
            over = life.go_on(&server) => { over.unwrap(); true }
            () = tokio::time::sleep(wait) => false,
        };
        kill(life, server).await;
        if over {
            return killed;
        }
        killed += 1;
        assert!(killed <= most, "the life did not come to its end");
    }
}

async fn kill(life: &mut Life, server: Server) {
    server.kill().await;
    life.check_numbers().await;
}

#[tokio::test]
async fn a_life_without_a_kill_ends_well_whichever_way_it_was_planned() {
    for planned in [Planned::ByCall, Planned::Told] {
        assert_eq!(live(Life::new(planned, None), Vec::new()).await, 0);
    }
}

#[tokio::test]
async fn a_life_killed_at_a_crash_point_ends_well_first_share() {
    at_points(0, 4, number(ROUNDS, 1), || None).await;
}

#[tokio::test]
async fn a_life_killed_at_a_crash_point_ends_well_second_share() {
    at_points(1, 4, number(ROUNDS, 1), || None).await;
}

#[tokio::test]
async fn a_life_killed_at_a_crash_point_ends_well_third_share() {
    at_points(2, 4, number(ROUNDS, 1), || None).await;
}

#[tokio::test]
async fn a_life_killed_at_a_crash_point_ends_well_fourth_share() {
    at_points(3, 4, number(ROUNDS, 1), || None).await;
}

#[tokio::test]
async fn a_life_killed_at_random_moments_ends_well_first_half() {
    at_random(0, number(KILLS, 10) / 2, || None).await;
}

#[tokio::test]
async fn a_life_killed_at_random_moments_ends_well_second_half() {
    at_random(1, number(KILLS, 10).div_ceil(2), || None).await;
}

#[tokio::test]
async fn a_life_on_postgres_killed_at_crash_points_and_at_random_ends_well() {
    let rounds = number(POSTGRES_ROUNDS, 0);
    if rounds == 0 {
        live(Life::new(Planned::ByCall, Some(Database::fresh())), vec!["effect_done".to_owned(), "run_resumed".to_owned()]).await;
    }
    at_points(0, 1, rounds, || Some(Database::fresh())).await;
    at_random(2, number(POSTGRES_KILLS, 1), || Some(Database::fresh())).await;
}
