/** Which cluster a mirror's keys are written in by their owners, as both of its clusters store it. */
@NullMarked
package io.understudy.mirror.home;

import org.jspecify.annotations.NullMarked;
