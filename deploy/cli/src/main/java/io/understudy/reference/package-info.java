/** The content of reference documents, from the declarations in the code. */
@NullMarked
package io.understudy.reference;

import org.jspecify.annotations.NullMarked;
