//! Fetching from a server of our own that does everything a hostile one could.

mod hostile;
mod lab;
mod searches;
