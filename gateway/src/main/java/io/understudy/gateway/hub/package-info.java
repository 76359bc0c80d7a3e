/**
 * The watch hub: delivers commits to watchers.
 *
 * <p>Each event loop has a {@link io.understudy.gateway.hub.LoopHub} of its own, with the watchers of its connections,
 * and goes through the {@linkplain io.understudy.gateway.replica.CommitLog log of commits} by itself: loops share the
 * commits, and nothing else. Watchers that have received the same commits form a cohort; the one at the log's head is
 * live, those behind it catch up and merge.
 *
 * <p>Commits before the log are read from the source by few shared {@linkplain io.understudy.gateway.hub.CommitHistory
 * histories}.
 */
@NullMarked
package io.understudy.gateway.hub;

import org.jspecify.annotations.NullMarked;
