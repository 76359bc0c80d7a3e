/**
 * What a supervisor decides, as pure functions of what it has seen: {@link
 * io.understudy.cluster.supervise.rule.Rules#decide} reads a {@link io.understudy.cluster.supervise.rule.Situation}, of which
 * {@link io.understudy.cluster.supervise.rule.History} is what earlier looks left.
 */
@NullMarked
package io.understudy.cluster.supervise.rule;

import org.jspecify.annotations.NullMarked;
