/**
 * What an operator is shown: this gateway, its source, and the gateways, mirrors and supervisors beside it, as of now and over
 * the last minutes.
 */
@NullMarked
package io.understudy.gateway.dashboard;

import org.jspecify.annotations.NullMarked;
