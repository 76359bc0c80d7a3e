/** What the lab consists of: parts that start, are watched, and stop. */
@NullMarked
package io.understudy.lab.part;

import org.jspecify.annotations.NullMarked;
