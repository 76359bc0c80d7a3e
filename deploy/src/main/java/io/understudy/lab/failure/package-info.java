/** How the lab says that it can't start or go on. */
@NullMarked
package io.understudy.lab.failure;

import org.jspecify.annotations.NullMarked;
