/**
 * The replica: an in-memory copy of a key range, driven by a feed.
 *
 * <p>{@link io.understudy.gateway.replica.ReplicaWriter} is the one thread that writes; it polls the feed into a
 * {@link io.understudy.gateway.replica.Replica}, which publishes an immutable
 * {@link io.understudy.gateway.replica.ReplicaState} per commit. Readers take the latest state, on any thread, without
 * locks, and keep it for as long as they like.
 *
 * <p>The latest commits and the states between them are kept too, see {@link
 * io.understudy.gateway.replica.Replica#at}.
 *
 * <p>States share structure: a commit copies the few tree nodes on the paths it touches and nothing else. Keeping a
 * state is thus cheap, and a past revision is simply a state that is still referenced.
 */
@NullMarked
package io.understudy.gateway.replica;

import org.jspecify.annotations.NullMarked;
