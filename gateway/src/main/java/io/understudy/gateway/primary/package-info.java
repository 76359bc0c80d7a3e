/** Which of a mirror's two clusters is the primary. */
@NullMarked
package io.understudy.gateway.primary;

import org.jspecify.annotations.NullMarked;
