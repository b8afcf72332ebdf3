//! Lists of a plan's steps on the command line.

/// Numbers of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepList(pub Vec<u32>);

/// Reads `1-3,5`.
pub fn step_list(text: &str) -> Result<StepList, String> {
    const MOST: u32 = 10_000;
    let wrong = || format!("`{text}` is no list of steps; write it like 1-3,5");
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| (1..=MOST).contains(number));
    let mut steps = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = number(first).zip(number(last)).filter(|(first, last)| first <= last);
        let (first, last) = range.ok_or_else(wrong)?;
        steps.extend(first..=last);
    }
    Ok(StepList(steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_steps_has_numbers_and_ranges() {
        assert_eq!(step_list("1-3,5").unwrap().0, [1, 2, 3, 5]);
        assert_eq!(step_list(" 2 , 4 - 5 ").unwrap().0, [2, 4, 5]);
        for wrong in ["", "0", "3-1", "a", "1,", "-2", "1-2-3", "1-99999999"] {
            assert!(step_list(wrong).is_err(), "{wrong}");
        }
    }
}
