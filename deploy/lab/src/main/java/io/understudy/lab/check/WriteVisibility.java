package io.understudy.lab.check;

import java.time.Duration;

/**
 * The delay until a write is visible at a viewpoint.
 *
 * @param where the viewpoint
 * @param write from sending the put until it was seen
 * @param delete from sending the deletion until it was seen
 */
public record WriteVisibility(String where, Duration write, Duration delete) {}
