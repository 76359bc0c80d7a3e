/** The lab's self-check: one write, seen through every path, then its deletion. */
@NullMarked
package io.understudy.lab.check;

import org.jspecify.annotations.NullMarked;
