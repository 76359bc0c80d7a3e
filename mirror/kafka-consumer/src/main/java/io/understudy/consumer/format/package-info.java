/** The format of records in a mirror's topics, shared by every reader and the writer. */
@NullMarked
package io.understudy.consumer.format;

import org.jspecify.annotations.NullMarked;
