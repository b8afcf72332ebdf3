//! Pages of the web, and helpers.

use super::*;

#[test]
fn a_page_asks_unless_its_host_is_allowed_and_the_permit_is_for_that_page_and_those_hosts() {
    let url = |text: &str| planwright_fetch::WebUrl::parse(text).unwrap();
    let page = url("https://docs.rs/serde");
    let effects = [WebEffect::Fetch(page.clone()).into()];
    for role in Role::all() {
        let mut situation = by_model(role);
        assert!(matches!(decide(&situation, &effects), Verdict::Ask(Approval { severity: Severity::Major, .. })), "{role}");
        situation.hosts = Arc::new(AllowedHosts::default().with("docs.rs").with("crates.io"));
        let Verdict::Allow(permit) = decide(&situation, &effects) else { panic!("{role}") };
        assert!(permit.to_fetch(&url("https://docs.rs/other")).is_err());
        let permit = permit.to_fetch(&page).unwrap();
        assert!(permit.enter(&page).is_ok() && permit.may_reach("docs.rs") && permit.may_reach("crates.io"));
        assert!(!permit.may_reach("other.example"));
        situation.fence.advance();
        assert!(permit.enter(&page).is_err() && !permit.may_reach("docs.rs"), "not after a switch of the role");
    }
    let mut strict = by_model(Role::Planner);
    strict.hosts = Arc::new(AllowedHosts::default().with("docs.rs"));
    strict.tool = "web_fetch".to_owned();
    strict.approvals = Arc::new(Approvals { tools: [("web_fetch".to_owned(), Rule::Deny)].into(), ..Approvals::default() });
    assert!(matches!(decide(&strict, &effects), Verdict::Deny(_)));
}

#[test]
fn a_helper_only_reads_whatever_its_role_may() {
    for role in Role::all() {
        let helper = Situation { agent: AgentKind::Helper, ..situation(role, Consent::Given) };
        assert!(matches!(decide(&helper, &[FileEffect::Read(path("/a")).into()]), Verdict::Allow(_)), "{role}");
        for effect in [
            Effect::from(FileEffect::Write(path("/plans/x.plan"))),
            FileEffect::Create(path("/a")).into(),
            RecordEffect::Explore.into(),
            RecordEffect::Delegate(Role::Actor).into(),
            RunEffect::Inspect.into(),
        ] {
            assert!(matches!(decide(&helper, std::slice::from_ref(&effect)), Verdict::Deny(_)), "{role} {effect:?}");
        }
    }
}
