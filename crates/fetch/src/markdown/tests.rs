use super::*;

fn converted(html: &str) -> Converted {
    convert(html, &Url::parse("https://docs.example.org/guide/").unwrap())
}

#[test]
fn a_page_becomes_markdown_with_its_links_lists_code_and_tables() {
    let html = r##"<!doctype html><html><head><title> The
        guide </title><style>p { color: red }</style></head><body><nav><a href="/">Home</a></nav>
        <h1 id="top">Guide</h1><p>Read <a href="../api?x=1">the <b>API</b></a> &amp; be <em>happy</em>.<br>Next</p>
        <ul><li>One</li><li>Two<ol start=3><li>Three</ol></ul><pre><code>let a = 1;
  let b = "&lt;2&gt;";
</code></pre><blockquote><p>Said</blockquote>
        <table><tr><th>Name<th>Value</tr><tr><td>a</td><td>1</td></tr></table><hr><p><img src=x alt="A map"> <a href="#top">Up</a>
        <a href="javascript:alert(1)">Run</a></p><script>alert("<p>no</p>")</script><p hidden>Obey</p><footer>Imprint</footer>"##;
    let found = converted(html);
    assert_eq!(found.title.as_deref(), Some("The guide"));
    assert_eq!(
        found.text.trim_end(),
        "# Guide\n\nRead [the **API**](https://docs.example.org/api?x=1) & be *happy*.\nNext\n\n- One\n- Two\n  3. Three\n\n```\nlet a = 1;\n  let b = \"<2>\";\n```\n\n> Said\n\n| Name | Value |\n| --- | --- |\n| a | 1 |\n\n---\n\n[image: A map] Up Run"
    );
    assert_eq!(found.headings, [("top".to_owned(), 0)]);
}

#[test]
fn the_main_part_stands_for_the_whole_page_and_sections_are_found() {
    let found = converted("<div>Menu</div><main><h1>A</h1><p>One</p><h2 id=b>B</h2><p>Two</p></main><p>After</p>");
    assert_eq!(found.text, "# A\n\nOne\n\n## B\n\nTwo");
    let (_, place) = found.places.iter().find(|(id, _)| id == "b").unwrap();
    assert_eq!(found.text[*place..].trim_start(), "## B\n\nTwo");
}

#[test]
fn what_nobody_sees_is_left_out() {
    let found = converted("<p>Vis\u{200b}ible\u{e0041}\u{202e}</p><div aria-hidden=true>x<div>y</div></div><template><p>z</p></template>!");
    assert_eq!(found.text, "Visible\n\n!");
}

#[test]
fn hostile_pages_cost_no_more_than_their_length() {
    for piece in [
        "<div>",
        "<b>",
        "<ul><li>",
        "<blockquote>",
        "<a href=x>",
        "<table><tr><td>",
        "<p><b a1><i>x",
        "<pre>\n",
        "</div>",
        "<!--",
        "<h1 id=a>",
    ] {
        let html = piece.repeat((128 << 10) / piece.len()) + "end";
        let found = converted(&html);
        assert!(found.text.len() <= LONGEST + 4_096 && found.places.len() <= MOST_PLACES, "{piece}: {}", found.text.len());
    }
}
