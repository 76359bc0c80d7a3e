/** The files of the dashboard's page: all that a browser needs, read from the class path once. */
@NullMarked
package io.understudy.gateway.page;

import org.jspecify.annotations.NullMarked;
