//! Accounts, credentials, and rights in workspaces.

use crate::world::{World, append, chat_of, moment, on_both};
use planwright_protocol::{Role, Timestamp, UserId};
use planwright_store::{Account, Added, Append, AuditFilter, AuditKind, AuditRow, ChatRow, MemberChange, Rank, Removal, Right, Store};
use serde_json::json;
use std::time::Duration;

on_both!(
    a_name_is_had_once_and_the_first_account_is_an_admins,
    a_session_ends_by_itself_by_a_sign_out_and_by_another_password,
    a_password_that_was_changed_meanwhile_opens_nothing,
    there_is_an_admin_as_long_as_there_are_accounts,
    what_had_one_owner_passes_to_an_admin_when_they_are_removed,
    a_token_stands_for_its_user_and_knows_when_it_was_used,
    rights_are_those_of_members_and_of_admins_where_there_are_none,
    members_are_never_left_without_an_owner,
    of_two_who_add_overlapping_folders_at_once_one_has_it,
    the_log_shows_a_user_only_what_they_may_know_of,
    accounts_are_changed_beside_a_process_that_uses_the_database,
);

async fn user(store: &Store, name: &str) -> Account {
    store.add_user(name, "hash", Rank::Ordinary).await.unwrap().unwrap()
}

fn later(seconds: u64) -> Timestamp {
    Timestamp::now().checked_add(Duration::from_secs(seconds)).unwrap()
}

async fn a_name_is_had_once_and_the_first_account_is_an_admins(world: World) {
    let store = world.open().await;
    assert_eq!(user(&store, "Ann").await.rank, Rank::Admin);
    assert_eq!(user(&store, "bob").await.rank, Rank::Ordinary);
    assert_eq!(store.add_user("carl", "hash", Rank::Admin).await.unwrap().unwrap().rank, Rank::Admin);
    assert!(store.add_user("aNN", "other", Rank::Admin).await.unwrap().is_none());
    assert_eq!(store.user("ANN").await.unwrap().unwrap().password, "hash");
    let names: Vec<String> = store.users().await.unwrap().into_iter().map(|user| user.account.name).collect();
    assert_eq!(names, ["Ann", "bob", "carl"]);
    assert!(store.user("nobody").await.unwrap().is_none());
}

async fn a_session_ends_by_itself_by_a_sign_out_and_by_another_password(world: World) {
    let store = world.open().await;
    let (ann, bob) = (user(&store, "ann").await, user(&store, "bob").await);
    store.begin_session([1; 32], Some((ann.id, "hash")), later(60)).await.unwrap();
    store.begin_session([2; 32], Some((bob.id, "hash")), later(60)).await.unwrap();
    store.begin_session([3; 32], None, later(60)).await.unwrap();
    store.begin_session([4; 32], Some((ann.id, "hash")), Timestamp::now()).await.unwrap();
    assert_eq!(store.session([1; 32]).await.unwrap().unwrap().account, Some(ann.clone()));
    assert_eq!(store.session([3; 32]).await.unwrap().unwrap().account, None, "of whoever runs the server");
    assert!(store.session([4; 32]).await.unwrap().is_none(), "it is over");
    assert!(store.session([9; 32]).await.unwrap().is_none());
    store.begin_session([5; 32], Some((ann.id, "hash")), later(60)).await.unwrap();
    assert_eq!(world.look(world.either("select hex(sha256) from sessions", "select encode(sha256, 'hex') from sessions")).await.len(), 4);
    store.end_session([5; 32]).await.unwrap();
    assert!(store.session([5; 32]).await.unwrap().is_none());
    assert!(store.set_password(ann.id, "new").await.unwrap());
    assert!(store.session([1; 32]).await.unwrap().is_none());
    assert_eq!(store.session([2; 32]).await.unwrap().unwrap().account, Some(bob.clone()));
    assert_eq!(store.remove_user(bob.id).await.unwrap(), Removal::Done);
    assert!(store.session([2; 32]).await.unwrap().is_none());
    assert_eq!(store.remove_user(bob.id).await.unwrap(), Removal::Nobody);
    assert!(!store.set_password(bob.id, "new").await.unwrap());
}

async fn a_password_that_was_changed_meanwhile_opens_nothing(world: World) {
    let store = world.open().await;
    let ann = user(&store, "ann").await;
    assert!(!store.begin_session([1; 32], Some((ann.id, "another")), later(60)).await.unwrap());
    assert!(!store.change_password(ann.id, "another", "new").await.unwrap());
    // In either order: no session of the old password is left, and only one change wins.
    for round in 0..20 {
        let (old, new) = (store.user("ann").await.unwrap().unwrap().password, format!("{round}"));
        let signs_in = store.begin_session([round; 32], Some((ann.id, &old)), later(60));
        let other = format!("{round} too");
        let (begun, changed, too) =
            tokio::join!(signs_in, store.change_password(ann.id, &old, &new), store.change_password(ann.id, &old, &other));
        begun.unwrap();
        assert!(changed.unwrap() != too.unwrap(), "one of two changes at once");
        assert_eq!(store.session([round; 32]).await.unwrap(), None);
    }
    assert!(!store.begin_session([99; 32], Some((UserId::generate(), "hash")), later(60)).await.unwrap(), "somebody who was removed");
}

async fn there_is_an_admin_as_long_as_there_are_accounts(world: World) {
    let store = world.open().await;
    let (ann, bob) = (user(&store, "ann").await, user(&store, "bob").await);
    assert_eq!(store.remove_user(ann.id).await.unwrap(), Removal::LastAdmin);
    let mut last = ann;
    for round in 0..10 {
        let admin = async |name: &str| store.add_user(&format!("{name}{round}"), "hash", Rank::Admin).await.unwrap().unwrap();
        let (carl, dora) = (admin("carl").await, admin("dora").await);
        let (one, two, three) = tokio::join!(store.remove_user(last.id), store.remove_user(carl.id), store.remove_user(dora.id));
        let results = [one.unwrap(), two.unwrap(), three.unwrap()];
        assert_eq!(results.iter().filter(|result| **result == Removal::LastAdmin).count(), 1, "{results:?}");
        let mut admins = store.users().await.unwrap().into_iter().map(|user| user.account).filter(|account| account.rank == Rank::Admin);
        last = admins.next().unwrap();
        assert_eq!(admins.next(), None);
    }
    assert_eq!(store.remove_user(bob.id).await.unwrap(), Removal::Done);
}

async fn what_had_one_owner_passes_to_an_admin_when_they_are_removed(world: World) {
    let store = world.open().await;
    let (ann, bob, eve) = (user(&store, "ann").await, user(&store, "bob").await, user(&store, "eve").await);
    let (shared, own, kept) = (chat_of(&store, "/shared").await, chat_of(&store, "/own").await, chat_of(&store, "/kept").await);
    for (place, user, right) in [
        (&shared, &bob, Right::Owner),
        (&shared, &eve, Right::Viewer),
        (&own, &bob, Right::Owner),
        (&kept, &bob, Right::Owner),
        (&kept, &eve, Right::Owner),
    ] {
        store.put_member(place.workspace_id, user.id, right, None).await.unwrap();
    }
    assert_eq!(store.remove_user(bob.id).await.unwrap(), Removal::Done);
    let right = async |user: &Account, place: &ChatRow| store.right(user.id, place.workspace_id, None).await.unwrap();
    assert_eq!((right(&ann, &shared).await, right(&eve, &shared).await), (Some(Right::Owner), Some(Right::Viewer)));
    assert_eq!((right(&ann, &own).await, right(&eve, &own).await), (Some(Right::Owner), None), "nobody's is the admins'");
    assert_eq!((right(&ann, &kept).await, right(&eve, &kept).await), (None, Some(Right::Owner)), "others own it still");
}

async fn a_token_stands_for_its_user_and_knows_when_it_was_used(world: World) {
    let store = world.open().await;
    let ann = user(&store, "ann").await;
    let anns = store.add_token([1; 32], Some(ann.id), "laptop").await.unwrap();
    let nobodys = store.add_token([2; 32], None, "ci").await.unwrap();
    assert_eq!(store.tokens(Some(ann.id)).await.unwrap(), std::slice::from_ref(&anns));
    assert_eq!(store.tokens(None).await.unwrap(), std::slice::from_ref(&nobodys));
    assert_eq!(store.bearer([1; 32]).await.unwrap().unwrap().account, Some(ann.clone()));
    assert_eq!(store.bearer([2; 32]).await.unwrap().unwrap().account, None);
    assert!(store.bearer([3; 32]).await.unwrap().is_none());
    let used = store.tokens(Some(ann.id)).await.unwrap()[0].last_used_at;
    assert!(used.is_some_and(|used| used >= anns.created_at), "{used:?}");
    store.bearer([1; 32]).await.unwrap();
    assert_eq!(store.tokens(Some(ann.id)).await.unwrap()[0].last_used_at, used, "noted once in a minute");
    assert!(!store.remove_token(anns.id, None).await.unwrap(), "a user can't remove another user's token");
    assert!(store.remove_token(anns.id, Some(ann.id)).await.unwrap());
    assert!(store.bearer([1; 32]).await.unwrap().is_none());
    assert!(store.set_password(ann.id, "new").await.unwrap());
    assert!(store.bearer([2; 32]).await.unwrap().is_some());
}

async fn rights_are_those_of_members_and_of_admins_where_there_are_none(world: World) {
    let store = world.open().await;
    let (admin, bob, eve) = (user(&store, "admin").await, user(&store, "bob").await, user(&store, "eve").await);
    let (here, there) = (chat_of(&store, "/here").await, chat_of(&store, "/there").await);
    let right = async |user: &Account, chat| store.right(user.id, here.workspace_id, chat).await.unwrap();
    assert_eq!(right(&admin, None).await, Some(Right::Owner));
    assert_eq!(right(&bob, None).await, None);
    let done = store.put_member(here.workspace_id, bob.id, Right::Viewer, Some(admin.id)).await.unwrap();
    assert_eq!(done, MemberChange::Done);
    assert_eq!(right(&bob, None).await, Some(Right::Viewer));
    assert_eq!(right(&admin, None).await, Some(Right::Owner), "an admin who shares a workspace stays its owner");
    assert_eq!(right(&bob, Some(here.id)).await, Some(Right::Viewer));
    assert_eq!(right(&bob, Some(there.id)).await, None, "a chat of another workspace");
    assert_eq!(right(&eve, None).await, None);
    let seen = async |user: UserId| -> Vec<String> {
        store.workspaces_of(user).await.unwrap().into_iter().map(|(workspace, _)| workspace.path).collect()
    };
    assert_eq!(seen(bob.id).await, ["/here"]);
    assert_eq!(seen(eve.id).await, Vec::<String>::new());
    assert_eq!(seen(admin.id).await.len(), 2);
    store.put_member(there.workspace_id, eve.id, Right::Owner, None).await.unwrap();
    assert_eq!(seen(admin.id).await, ["/here"], "admins don't see a workspace that has members");
    assert_eq!(seen(eve.id).await, ["/there"]);
    let members = store.members(here.workspace_id).await.unwrap();
    let named: Vec<(&str, Right)> = members.iter().map(|member| (member.name.as_str(), member.role)).collect();
    assert_eq!(named, [("admin", Right::Owner), ("bob", Right::Viewer)]);
}

async fn members_are_never_left_without_an_owner(world: World) {
    let store = world.open().await;
    let (ann, bob) = (user(&store, "ann").await, user(&store, "bob").await);
    let workspace = chat_of(&store, "/w").await.workspace_id;
    assert_eq!(store.put_member(workspace, bob.id, Right::Member, None).await.unwrap(), MemberChange::NoOwnerLeft);
    assert_eq!(store.members(workspace).await.unwrap(), []);
    store.put_member(workspace, ann.id, Right::Owner, None).await.unwrap();
    store.put_member(workspace, bob.id, Right::Member, Some(ann.id)).await.unwrap();
    assert_eq!(store.put_member(workspace, ann.id, Right::Viewer, Some(ann.id)).await.unwrap(), MemberChange::NoOwnerLeft);
    assert_eq!(store.remove_member(workspace, ann.id).await.unwrap(), MemberChange::NoOwnerLeft);
    assert_eq!(store.remove_member(workspace, bob.id).await.unwrap(), MemberChange::Done);
    assert_eq!(store.remove_member(workspace, bob.id).await.unwrap(), MemberChange::NotAMember);
    assert_eq!(store.remove_member(workspace, ann.id).await.unwrap(), MemberChange::Done);
    assert_eq!(store.right(ann.id, workspace, None).await.unwrap(), Some(Right::Owner), "without members it belongs to the admins again");
}

async fn of_two_who_add_overlapping_folders_at_once_one_has_it(world: World) {
    let store = world.open().await;
    user(&store, "admin").await;
    let (bob, eve) = (user(&store, "bob").await, user(&store, "eve").await);
    for (round, below) in ["", "/sub"].into_iter().cycle().take(10).enumerate() {
        let (outer, inner) = (format!("/r/{round}"), format!("/r/{round}{below}"));
        let (one, other) = tokio::join!(store.add_workspace("w", &outer, Some(bob.id)), store.add_workspace("w", &inner, Some(eve.id)));
        let won = match (one.unwrap(), other.unwrap()) {
            (Added::Workspace(won), Added::Taken(taken)) | (Added::Taken(taken), Added::Workspace(won)) => taken == [won],
            (Added::Workspace(_), Added::Workspace(_)) | (Added::Taken(_), Added::Taken(_)) => false,
        };
        assert!(won, "round {round}");
    }
    // `/ab` is not inside `/a`, and a user's own workspaces may overlap.
    assert!(matches!(store.add_workspace("w", "/r/00", Some(eve.id)).await.unwrap(), Added::Workspace(_)));
    let own = store.add_workspace("w", "/r/00/inner", Some(eve.id)).await.unwrap();
    assert!(matches!(own, Added::Workspace(_)), "it is her own");
    assert_eq!(store.add_workspace("other", "/r/00/inner", Some(eve.id)).await.unwrap(), own);
}

async fn the_log_shows_a_user_only_what_they_may_know_of(world: World) {
    let store = world.open().await;
    let (admin, bob) = (user(&store, "admin").await, user(&store, "bob").await);
    let (here, there) = (chat_of(&store, "/here").await, chat_of(&store, "/there").await);
    store.put_member(there.workspace_id, bob.id, Right::Owner, None).await.unwrap();
    let row = |kind, role, at| AuditRow { kind, model: "m/a".into(), role, user: None, details: json!({}), at: moment(at) };
    for (chat, at) in [(&here, 1), (&there, 2)] {
        let audit = [row(AuditKind::ToolBlocked, Some(Role::Planner), at)];
        append(&store, chat, Append { audit: &audit, ..Append::default() }).await.unwrap();
    }
    store.log(None, &[row(AuditKind::LoginFailed, None, 3)]).await.unwrap();
    let seen = async |seen_by: Option<UserId>| -> Vec<i64> {
        let found = store.audit(AuditFilter { seen_by, ..AuditFilter::default() }, 10).await.unwrap();
        found.iter().map(|entry| entry.row.at.as_second() - moment(0).as_second()).collect()
    };
    assert_eq!(seen(None).await, [3, 2, 1]);
    assert_eq!(seen(Some(admin.id)).await, [3, 1]);
    assert_eq!(seen(Some(bob.id)).await, [2]);
    let counted = async |seen_by| store.adherence(AuditFilter { seen_by, ..AuditFilter::default() }).await.unwrap();
    assert_eq!((counted(None).await[0].blocked, counted(Some(bob.id)).await[0].blocked), (2, 1));
    let failed = store.audit(AuditFilter { kind: Some(AuditKind::LoginFailed), ..AuditFilter::default() }, 10).await.unwrap();
    assert_eq!((failed[0].chat_id, failed[0].workspace_id, failed[0].row.role), (None, None, None));
}

async fn accounts_are_changed_beside_a_process_that_uses_the_database(world: World) {
    assert!(world.visit().await.is_none(), "there is nothing to visit yet");
    let store = world.open().await;
    let visitor = world.visit().await.unwrap();
    let ann = user(&visitor, "ann").await;
    visitor.close().await;
    assert_eq!(store.user("ann").await.unwrap().unwrap().account, ann);
    user(&store, "bob").await;
    store.close().await;
    assert_eq!(world.open().await.users().await.unwrap().len(), 2);
}
