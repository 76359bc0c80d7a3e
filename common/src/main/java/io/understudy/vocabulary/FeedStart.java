package io.understudy.vocabulary;

/** Where a feed begins: after a position, or within a snapshot. */
public sealed interface FeedStart permits Position, UnfinishedSnapshot {}
