/**
 * The decisions of a supervisor, as pure functions of its observations. The entry point {@link
 * io.understudy.cluster.supervise.rule.Rules#decide} reads a {@link io.understudy.cluster.supervise.rule.Situation},
 * with the {@link io.understudy.cluster.supervise.rule.History} of earlier observations.
 */
@NullMarked
package io.understudy.cluster.supervise.rule;

import org.jspecify.annotations.NullMarked;
