/** Coverage-guided fuzzing, for tests: many inputs in a process of its own, made of what reached new code before. */
@NullMarked
package io.understudy.local.fuzz;

import org.jspecify.annotations.NullMarked;
