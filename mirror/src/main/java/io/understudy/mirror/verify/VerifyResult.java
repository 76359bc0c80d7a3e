package io.understudy.mirror.verify;

/** Result of a comparison. */
public sealed interface VerifyResult permits VerifyReport, NotComparable {}
