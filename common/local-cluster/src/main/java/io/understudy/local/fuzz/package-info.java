/** Coverage-guided fuzzing for tests, in a separate process. */
@NullMarked
package io.understudy.local.fuzz;

import org.jspecify.annotations.NullMarked;
