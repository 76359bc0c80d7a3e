package io.understudy.mirror.pipeline;

/**
 * The conflict of a mirror's clusters that both hold the primary role.
 *
 * @param reason names both clusters, their epochs, and the command that resolves it
 * @param isMoving whether a running command resolves it
 */
public record Conflict(String reason, boolean isMoving) {}
