pub fn add(left: u32, right: u32) -> u32 {
    left + right
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_and_two_are_four() {
        assert_eq!(super::add(2, 2), 4);
    }
}
