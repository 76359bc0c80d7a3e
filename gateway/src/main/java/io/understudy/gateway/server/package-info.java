/**
 * The gateway's port: gRPC over prior-knowledge HTTP/2 and, beside it, plain HTTP for health, version and metrics. This is
 * where Vert.x is; what to answer is decided in the packages it is given.
 *
 * <p>Every event loop has its own server instance, all of them share the port, and a connection stays on its loop.
 */
@NullMarked
package io.understudy.gateway.server;

import org.jspecify.annotations.NullMarked;
