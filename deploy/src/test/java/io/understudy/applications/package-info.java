/** Programs of others upon gateways. */
@NullMarked
package io.understudy.applications;

import org.jspecify.annotations.NullMarked;
