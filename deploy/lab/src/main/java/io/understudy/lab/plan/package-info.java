/** Starting things that depend on each other, as concurrently as that allows. */
@NullMarked
package io.understudy.lab.plan;

import org.jspecify.annotations.NullMarked;
