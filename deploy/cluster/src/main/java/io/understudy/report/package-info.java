/** The forms in which commands print what they found. */
@NullMarked
package io.understudy.report;

import org.jspecify.annotations.NullMarked;
