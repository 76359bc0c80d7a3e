package io.understudy.vocabulary;

/** Start of a feed: after a position, or within a snapshot. */
public sealed interface FeedStart permits Position, UnfinishedSnapshot {}
