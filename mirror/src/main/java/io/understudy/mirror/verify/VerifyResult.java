package io.understudy.mirror.verify;

/** What came of a comparison. */
public sealed interface VerifyResult permits VerifyReport, NotComparable {}
