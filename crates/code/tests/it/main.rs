//! Outlines, definitions and uses in each language, against what stands in `golden`.

mod hostile;
mod languages;
mod own_source;
