/**
 * The gateway's port: gRPC over HTTP/2 with prior knowledge and, beside it, plain HTTP over HTTP/1.1 and HTTP/2. What to
 * answer is decided in the packages it is given.
 *
 * <p>Vert.x accepts connections, and has the event loops: each has a server of its own, all of them share the port, and a
 * connection stays on its loop. Netty's codecs speak the protocols; between them and the answers are only the classes of
 * this package, since a read costs less than what a general server does around it.
 *
 * <p>In reading order: {@link io.understudy.gateway.server.ApiServer}, {@code ProtocolSelector}, {@code Http2Handler} and
 * {@code Http1Handler}, {@code Exchange} for what the two have in common, {@code Requests} that selects the method, {@code
 * UnaryCall}, {@code MessageCall} and {@code WebRequest}, {@code BodyPump}; {@code WholeAnswer} and {@code JoinedFrames} for
 * how small answers and events are written.
 */
@NullMarked
package io.understudy.gateway.server;

import org.jspecify.annotations.NullMarked;
