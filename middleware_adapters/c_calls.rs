// SPDX-License-Identifier: Apache-2.0
//! The common part of the C functions through which a Rust library is called; shim_status.h is the other side.
#![allow(dead_code)] // no shim needs all of it
use core::ffi::c_char;
use core::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub const WHY_BYTES: usize = 256;

pub const FAILED: i32 = -1;
pub const NOTHING: i32 = 0;
pub const DONE: i32 = 1;

/// Turns a failure into a sentence: what failed, and why.
pub trait Told<T> {
    fn told(self, what: &str) -> Result<T, String>;
}
impl<T, E: Display> Told<T> for Result<T, E> {
    fn told(self, what: &str) -> Result<T, String> {
        self.map_err(|error| format!("{what}: {error}"))
    }
}

/// No panic crosses into C.
pub fn guarded<T>(why: *mut c_char, failed: T, act: impl FnOnce() -> Result<T, String>) -> T {
    let sentence = match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(value)) => return value,
        Ok(Err(sentence)) => sentence,
        Err(_) => "the library panicked".to_string(),
    };
    let length = sentence.len().min(WHY_BYTES - 1);
    unsafe {
        why.copy_from_nonoverlapping(sentence.as_ptr().cast(), length);
        *why.add(length) = 0;
    }
    failed
}

/// Likewise for a function that can't report failures.
pub fn guarded_alone(act: impl FnOnce()) {
    let mut why = [0; WHY_BYTES];
    guarded(why.as_mut_ptr(), (), || {
        act();
        Ok(())
    });
}
