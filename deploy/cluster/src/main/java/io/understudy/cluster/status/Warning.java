package io.understudy.cluster.status;

/**
 * Something about a cluster that its operator should know.
 *
 * @param rule its name, such as {@code even-size}
 * @param text what is so, and what to do about it
 */
public record Warning(String rule, String text) {}
