/** The parts of a lab, which start, are monitored, and stop. */
@NullMarked
package io.understudy.lab.part;

import org.jspecify.annotations.NullMarked;
