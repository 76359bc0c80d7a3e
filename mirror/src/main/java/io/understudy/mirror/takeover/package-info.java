/**
 * Having the target take over from the source, and back.
 *
 * <p>{@link io.understudy.mirror.takeover.Handover} takes one {@code Step} after another and writes each into the
 * {@code Journal}, so that a run that was killed goes on in the next one; {@link io.understudy.mirror.takeover.PatientCalls}
 * reaches the clusters.
 */
@NullMarked
package io.understudy.mirror.takeover;

import org.jspecify.annotations.NullMarked;
