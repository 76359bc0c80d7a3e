/** What the documents list, from the same declarations that the programs act on. */
@NullMarked
package io.understudy.reference;

import org.jspecify.annotations.NullMarked;
