#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| nodevet::fuzz::masked(data));
