//! Detects requests that are too small to need a plan.
//!
//! A wrong yes lets an agent change files without a plan that anybody has seen; a wrong no costs one look at a short plan.
//! So this uses an allow-list too: one clause that begins with a verb for fixing and names a small thing, without any word
//! that could make it larger.

use super::grammar::{Table, after, begins_with, clauses, contains, sentences, word};
use super::text::{self, Token};
use super::{first_negator, is_courtesy, markers, openings, phrases};

/// Maximum tokens of a small request.
const LONGEST: usize = 40;

/// Verbs that begin a small request, after courtesy.
const MENDS: Table = &[
    &[&["", "help me"], &["fix", "correct", "mend", "change", "replace", "reword", "adjust"]],
    &[&["add", "insert", "put in", "supply"], &["", "the", "a"], &["missing"]],
    &[&["remove", "strip", "drop"], &["", "the", "a"], &["trailing", "extra", "stray", "superfluous"]],
    &[&["", "帮我", "帮忙", "给我"], &["修", "改", "更正", "纠正", "订正", "把", "将", "补", "去掉多余", "去掉行尾"]],
];

/// A Chinese request that begins with its object has its verb later.
const LATER_VERBS: &[&str] = &["改", "修", "更正", "纠正", "订正", "换成", "补上", "去掉"];
const OBJECT_FIRST: &[&str] = &["把", "将", "帮我把", "帮我将", "请把", "麻烦把"];

/// Things that can be fixed without knowing the rest of the project.
const SMALL_THINGS: &[&str] = &[
    "typo",
    "misspelling",
    "misspelled",
    "misspelt",
    "spelling",
    "spelling mistake",
    "grammar mistake",
    "grammar",
    "wording",
    "punctuation",
    "capitalization",
    "capitalisation",
    "comment",
    "docstring",
    "whitespace",
    "trailing space",
    "trailing spaces",
    "indentation",
    "indent",
    "newline",
    "blank line",
    "semicolon",
    "comma",
    "full stop",
    "bracket",
    "parenthesis",
    "quotation mark",
    "broken link",
    "label",
    "caption",
    "heading",
    "tooltip",
    "missing import",
    "错字",
    "笔误",
    "拼写",
    "拼错",
    "语法错误",
    "措辞",
    "标点",
    "大小写",
    "注释",
    "缩进",
    "空格",
    "空行",
    "换行",
    "分号",
    "逗号",
    "句号",
    "括号",
    "引号",
    "链接",
    "文案",
    "标题",
    "标签",
    "缺少的导入",
    "漏掉的导入",
];

/// Words that make a request larger than it looks, or less certain. One is enough.
const LARGER: &[&str] = &[
    "all",
    "any",
    "every",
    "everything",
    "everywhere",
    "each",
    "whole",
    "entire",
    "across",
    "throughout",
    "codebase",
    "project",
    "repo",
    "repository",
    "workspace",
    "multiple",
    "several",
    "many",
    "some",
    "various",
    "files",
    "folder",
    "directory",
    "modules",
    "classes",
    "functions",
    "and",
    "also",
    "plus",
    "or",
    "as well",
    "then",
    "after",
    "before",
    "while",
    "so that",
    "because",
    "refactor",
    "rewrite",
    "redesign",
    "restructure",
    "reorganize",
    "rename",
    "migrate",
    "upgrade",
    "architecture",
    "feature",
    "implement",
    "design",
    "build",
    "create",
    "system",
    "support",
    "logic",
    "algorithm",
    "behaviour",
    "behavior",
    "bug",
    "crash",
    "performance",
    "security",
    "auth",
    "authentication",
    "login",
    "password",
    "secret",
    "token",
    "credentials",
    "production",
    "deploy",
    "release",
    "database",
    "schema",
    "migration",
    "api",
    "interface",
    "protocol",
    "delete",
    "drop the",
    "dependency",
    "dependencies",
    "license",
    "maybe",
    "perhaps",
    "possibly",
    "should",
    "could",
    "would",
    "might",
    "think",
    "investigate",
    "explain",
    "review",
    "consider",
    "figure out",
    "find out",
    "look into",
    "check",
    "see",
    "parser",
    "handling",
    "generator",
    "所有",
    "全部",
    "每",
    "各",
    "整个",
    "全",
    "项目",
    "仓库",
    "代码库",
    "多个",
    "一些",
    "几个",
    "若干",
    "批量",
    "统一",
    "重构",
    "重写",
    "设计",
    "迁移",
    "升级",
    "架构",
    "模块",
    "功能",
    "实现",
    "逻辑",
    "算法",
    "行为",
    "系统",
    "性能",
    "安全",
    "认证",
    "登录",
    "密码",
    "密钥",
    "令牌",
    "生产",
    "部署",
    "发布",
    "数据库",
    "表结构",
    "接口",
    "协议",
    "删除",
    "删",
    "依赖",
    "许可",
    "和",
    "并",
    "及",
    "然后",
    "同时",
    "顺便",
    "还",
    "另外",
    "再",
    "或",
    "可能",
    "也许",
    "应该",
    "是否",
    "解释",
    "分析",
    "看看",
    "看一下",
    "检查",
    "调查",
    "考虑",
    "评估",
    "崩溃",
    "解析",
    "处理",
    "生成",
    "支持",
    "重命名",
    "改名",
    "目录",
    "文件夹",
];

/// Whether the message asks for one small fix and nothing else.
pub fn is_simple_fix(message: &str) -> bool {
    // 别 is a negation everywhere but in this word.
    let message = &message.trim().replace("错别字", "错字").replace("錯別字", "错字");
    if message.contains(['\n', '\r']) || message.len() > 400 {
        return false;
    }
    let text = text::read(message);
    let tokens = text.tokens.as_slice();
    let told = sentences(tokens).filter(|sentence| sentence.iter().any(|token| word(token).is_some())).count();
    let unclear = tokens.iter().any(|token| matches!(token, Token::Question | Token::Colon));
    if text.unreadable || tokens.len() > LONGEST || told != 1 || unclear || doubtful(tokens) {
        return false;
    }
    let mut wishes = clauses(tokens).filter(|clause| !is_courtesy(clause));
    match (wishes.next(), wishes.next()) {
        (Some(wish), None) => mends(wish) && contains(wish, SMALL_THINGS),
        (Some(_), Some(_)) | (None, _) => false,
    }
}

fn doubtful(tokens: &[Token]) -> bool {
    let words = [LARGER, markers::PLAN_ONLY, markers::QUESTION_WORDS, markers::CONDITIONS, markers::POSTPONEMENTS, markers::REPORTS];
    words.iter().any(|words| contains(tokens, words)) || clauses(tokens).any(|clause| first_negator(clause).is_some())
}

fn mends(clause: &[Token]) -> bool {
    let opened = openings(clause, &[phrases::OPENERS]).iter().any(|&at| !after(clause, at, &[MENDS]).is_empty());
    opened && (!begins_with(clause, OBJECT_FIRST) || contains(clause, LATER_VERBS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SENTENCES: &str = include_str!("../../tests/data/task-sentences.tsv");

    fn sentences_of_the_data_file() -> Vec<(bool, String)> {
        let lines = SENTENCES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines
            .map(|line| {
                let (label, sentence) = line.split_once('\t').unwrap_or_else(|| panic!("no tab in {line:?}"));
                assert!(matches!(label, "SIMPLE" | "PLAN"), "{line}");
                (label == "SIMPLE", sentence.replace("\\n", "\n"))
            })
            .collect()
    }

    #[test]
    fn every_request_of_the_data_file_gets_its_label() {
        let wrong: Vec<String> = sentences_of_the_data_file()
            .into_iter()
            .filter(|(simple, sentence)| is_simple_fix(sentence) != *simple)
            .map(|(simple, sentence)| format!("{sentence:?} should {}be simple", if simple { "" } else { "not " }))
            .collect();
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn the_data_file_has_enough_of_both_languages_and_more_that_needs_a_plan() {
        let sentences = sentences_of_the_data_file();
        let unique: BTreeSet<_> = sentences.iter().map(|(_, sentence)| sentence).collect();
        let chinese = sentences.iter().filter(|(_, sentence)| sentence.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))).count();
        let simple = sentences.iter().filter(|(simple, _)| *simple).count();
        assert_eq!(unique.len(), sentences.len());
        assert!(sentences.len() >= 40 && chinese * 5 >= sentences.len() * 2 && simple * 2 < sentences.len(), "{chinese} {simple}");
    }

    #[test]
    fn anything_added_to_a_simple_request_that_makes_it_doubtful_needs_a_plan() {
        for request in ["Fix the typo in README.md", "把 README 里的错别字改一下"] {
            assert!(is_simple_fix(request));
            for (before, after) in [
                ("Don't ", ""),
                ("", "?"),
                ("", " and run the tests"),
                ("", ", then refactor the parser"),
                ("Maybe ", ""),
                ("", "\n- and more"),
                ("", ". Also rewrite the login."),
                ("If you can, ", ""),
                ("", "，然后重构一下"),
                ("先别", ""),
                ("", "吗"),
                ("", "，顺便删除旧文件"),
                ("\u{200b}", ""),
            ] {
                let message = format!("{before}{request}{after}");
                assert!(!is_simple_fix(&message), "{message}");
            }
        }
    }
}
