/** The benchmarks' command line, which runs from a checkout: {@code deploy/understudy bench}. */
@NullMarked
package io.understudy.bench.command;

import org.jspecify.annotations.NullMarked;
