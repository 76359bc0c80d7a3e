/** The errors by which the lab reports that it can't start or continue. */
@NullMarked
package io.understudy.lab.failure;

import org.jspecify.annotations.NullMarked;
