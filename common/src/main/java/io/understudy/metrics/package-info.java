/**
 * The meter registry of a process, the shared meters, and the naming rules.
 *
 * <p>A meter is named {@code understudy.<module>.<noun>}, lower case with dots; units are base units, set in the meter
 * and not in the name. A tag has few values, known beforehand.
 */
@NullMarked
package io.understudy.metrics;

import org.jspecify.annotations.NullMarked;
