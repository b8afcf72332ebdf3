//! The parts of an order, in both languages. Spaces separate Latin words; each Han character is a word. Traditional
//! characters are simplified before they get here.

use super::grammar::Pattern;

const GO: &[&str] = &["go ahead", "proceed"];
const THE_PLAN: &[&str] =
    &["this", "that", "it", "the plan", "this plan", "that plan", "your plan", "the proposal", "the implementation", "all of it"];
/// "Implement this" may refer to an attachment, and "make the changes" to the plan's own text, so "this", "that" and
/// "the changes" are not in this list.
const NAMED_PLAN: &[&str] = &[
    "it",
    "the plan",
    "this plan",
    "that plan",
    "your plan",
    "the proposal",
    "the proposed changes",
    "the proposed plan",
    "the approved plan",
    "the whole plan",
    "all of it",
];
const CARRY_OUT: &[&str] = &["implement", "execute", "carry out"];
const STARTING: &[&str] = &[
    "implementing",
    "executing",
    "coding",
    "building",
    "implementation",
    "execution",
    "the implementation",
    "the execution",
    "the work",
    "work",
];
const AS_WRITTEN: &[&str] = &["as planned", "as proposed", "as described", "as written", "as outlined"];

const WHICH: &[&str] =
    &["这个", "这份", "这套", "这", "上面的", "上述", "以上", "你的", "该", "此", "刚才的", "当前", "当前的", "我们的", "整个"];
const PLAN: &[&str] = &["计划", "方案", "规划"];
const BY: &[&str] = &["按", "按照", "照", "照着", "依照", "根据"];
const DO: &[&str] = &[
    "做",
    "执行",
    "实施",
    "实现",
    "来",
    "来做",
    "来执行",
    "办",
    "进行吧",
    "推进吧",
    "落实",
    "去做",
    "开始",
    "开始做",
    "开始执行",
    "开始实施",
    "开始实现",
    "改",
    "开发",
];
const AT_ONCE: &[&str] = &["开始", "马上", "立即", "立刻", "直接", "直接开始", "马上开始", "立即开始", "立刻开始", "现在就", "现在就开始"];
const WORK: &[&str] = &["执行", "实施", "实现", "编码", "写代码", "改代码", "修改代码", "开发"];
const WHAT: &[&str] = &["", "计划", "方案", "这个计划", "这个方案", "该计划", "该方案", "它", "第一步"];
/// Without 了 and 啦: after an order they report that it has begun.
const LET_US: &[&str] = &["", "吧", "呗"];

/// Orders that remain orders when more words follow.
pub(super) const ORDERS: &[Pattern] = &[
    &[GO],
    &[GO, &["with"], THE_PLAN],
    // A plan starts with its first step, so naming that step adds nothing. Naming any other step does.
    &[GO, &["with", "from"], &["step 1", "step one", "the first step"]],
    &[GO, &["with", "and start", "and begin"], STARTING],
    &[GO, &["and"], CARRY_OUT, NAMED_PLAN],
    &[GO, &["and"], &["do it", "start", "begin", "implement", "execute"]],
    &[GO, AS_WRITTEN],
    &[GO, &["with"], THE_PLAN, AS_WRITTEN],
    &[CARRY_OUT, NAMED_PLAN],
    &[CARRY_OUT, NAMED_PLAN, AS_WRITTEN],
    &[&["apply"], &["the plan", "this plan", "your plan", "the proposed changes"]],
    &[&["start", "begin"], STARTING],
    &[&["start", "begin"], &["implementing", "executing", "building"], NAMED_PLAN],
    &[&["you may", "you can"], GO],
    &[BY, WHICH, PLAN, DO, LET_US],
    &[BY, PLAN, DO, LET_US],
    &[BY, &["这个", "这样", "此", "上面的", "你说的", "你写的"], DO, LET_US],
    &[AT_ONCE, WORK, WHAT, LET_US],
    &[&["执行", "实施", "实现", "落实"], WHICH, PLAN, LET_US],
    // Without these words "执行计划" is a noun: the execution plan.
    &[&["请执行计划", "执行计划吧", "请实施计划", "实施计划吧", "执行方案吧"]],
    // Without 了 or 开始 these say that something is possible. 吧 after 了 makes it a question.
    &[&["可以"], &["", "开始"], &["实施", "写代码", "改代码", "修改代码", "编码", "动手"], &["了", "啦"]],
    &[&["可以开始"], &["执行", "实施", "实现", "写代码", "改代码"], &["", "了"]],
    &[&["批准", "同意", "确认"], &["", "开始", "立即"], &["执行", "实施"]],
    &[&["从第一步开始"], &["", "做", "执行", "实施", "实现"], LET_US],
];

/// Orders only if the clause consists of nothing else: "start" is one, "start the server" is not.
pub(super) const SHORT_ORDERS: &[Pattern] = &[
    &[&["start", "begin", "execute", "implement", "do it", "go for it", "let's do it", "let's begin", "let's start", "make it so"]],
    &[&["you may", "you can"], &["start", "begin"]],
    // The label of the card's own button.
    &[&["accept and build"]],
    &[&["开始", "执行", "动手", "开工", "开干", "开始动手", "开始做", "开始干活", "照做", "照办", "实施", "去执行"], LET_US],
    &[&["做", "干", "去做", "实现", "开搞", "搞", "动工"], &["吧", "呗"]],
    &[AT_ONCE, &["做", "动手", "开工"], LET_US],
    &[&["直接", "立即", "立刻", "现在就"], &["开始"], LET_US],
    &[&["可以开始"], &["", "做"], &["了", "啦"]],
];

/// These start with 就, which means "then" after another word ("行就照这个做" is "if fine, then do it"), so they count
/// only at the very start of a clause.
pub(super) const THEN_ORDERS: &[Pattern] = &[
    &[SO_THEN, BY, WHICH, PLAN, DO, LET_US],
    &[SO_THEN, BY, PLAN, DO, LET_US],
    &[SO_THEN, BY, &["这个", "这样", "你说的", "你写的"], DO, LET_US],
    &[SO_THEN, &["这么", "这样"], &["做", "办", "干", "执行", "实施"], LET_US],
    &[&["那就", "好的那就", "好那就"], AT_ONCE, WORK, WHAT, LET_US],
    &[&["那就", "好的那就", "好那就"], &["开始", "执行", "动手", "做", "干", "开工"], &["吧", "呗"]],
];
const SO_THEN: &[&str] = &["就", "那就", "好的就", "好的那就", "嗯就", "请就"];

/// Courtesy that may precede any order, in its clause or in a separate one.
pub(super) const OPENERS: &[Pattern] = &[
    &[&["please", "pls", "plz", "kindly", "just", "now", "hi", "hello", "hey", "let's", "let us"]],
    &[&["yes", "yep", "yeah", "yup", "ok", "okay", "sure", "alright", "all right", "absolutely", "definitely", "of course"]],
    &[&["ok then", "okay then", "alright then", "all right then", "thanks", "thank you", "thx", "cheers"]],
    &[&["嗯", "嗯嗯", "请", "请你", "麻烦", "麻烦你", "那", "那么", "现在", "你"]],
];

/// Assent that may share a clause with a long order only: "好的开始" is not an order but "a good start".
pub(super) const ASSENTS: &[Pattern] = &[
    &[&["", "it", "that", "this", "the plan", "plan", "your plan", "this plan"], &["looks", "sounds"], VERY, WELL, &["", "to me"]],
    &[&["it is", "it's", "that's", "that is", "the plan is", "your plan is", "all"], &["good", "fine", "great", "perfect", "approved"]],
    &[&[
        "works for me",
        "i agree",
        "i approve",
        "i approve the plan",
        "i approve this plan",
        "plan approved",
        "no problem",
        "no objections",
    ]],
    &[&["agreed", "approved", "confirmed", "lgtm", "sgtm"]],
    &[&["好的", "好", "好啊", "好吧", "好嘞"]],
];
const VERY: &[&str] = &["", "very", "really", "all"];
const WELL: &[&str] = &["good", "great", "fine", "perfect", "nice", "right", "excellent"];

/// Assent that needs its own clause: "great start implementing it" is praise, and 可以 before more words becomes a
/// condition.
pub(super) const VERDICTS: &[Pattern] = &[
    &[&["good", "great", "fine", "perfect", "nice", "excellent", "awesome", "cool", "right", "correct", "many thanks", "thanks a lot"]],
    &[&["good", "great", "nice", "excellent", "perfect"], &["plan", "work", "job"]],
    &[&[
        "可以",
        "可以的",
        "行",
        "行的",
        "行吧",
        "没问题",
        "没有问题",
        "没意见",
        "不错",
        "很好",
        "非常好",
        "挺好",
        "很棒",
        "完美",
        "收到",
        "明白",
        "对",
        "对的",
        "是的",
        "是",
    ]],
    &[&["", "我"], &["同意", "批准", "认可", "确认", "通过"], &["", "了", "这个计划", "这个方案", "该计划", "该方案", "计划", "方案"]],
    &[&["", "这个", "你的", "这份"], &["计划", "方案"], &["", "看起来", "看着", "我觉得"], SOUND, &["", "了"]],
    &[&["看起来", "看着", "我觉得"], SOUND],
    &[&["", "计划", "方案"], &["我看过了", "我看完了", "看过了", "看完了"]],
];
const SOUND: &[&str] = &["不错", "可以", "没问题", "没有问题", "很好", "挺好", "很棒", "通过", "ok", "好"];

/// With these, a following 就 makes a condition even across a comma.
pub(super) const CONDITION_LIKE: &[&str] = &["没问题", "没有问题", "没意见", "通过"];

/// Everything that may follow an order. Assent may not: "go ahead, right" asks.
pub(super) const CLOSERS: &[Pattern] = &[
    &[&["please", "pls", "plz", "now", "then", "thanks", "thank you", "thx", "right away", "right now", "immediately", "asap"]],
    &[&["谢谢", "谢谢你", "多谢", "辛苦", "辛苦了", "感谢", "拜托", "拜托了", "麻烦了", "麻烦你了"]],
];

/// Whole clauses that may or may not mean an order: 改吧 may refer to the plan's text.
pub(super) const HINTS: &[Pattern] = &[
    &[&["go", "let's go", "ship it", "good to go", "go on", "carry on", "keep going", "continue", "please do", "do this", "do that"]],
    &[&["make", "apply"], &["the changes", "these changes", "those changes"]],
    &[&["we can start", "we can begin", "start working", "apply it"]],
    &[&[
        "继续",
        "继续吧",
        "可以了",
        "就这样",
        "就这样吧",
        "来吧",
        "走起",
        "冲",
        "上吧",
        "搞起",
        "继续执行",
        "可以做",
        "可以执行",
        "可以执行了",
        "马上开始",
        "可以开始",
        "改吧",
        "写吧",
        "直接改",
        "直接改吧",
        "开始改",
        "开始改吧",
        "实现",
        "全部执行",
        "执行一下",
        "按计划进行",
        "按计划推进",
    ]],
];
