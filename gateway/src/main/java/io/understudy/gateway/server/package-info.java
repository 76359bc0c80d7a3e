/**
 * The gateway's port: gRPC over HTTP/2 with prior knowledge, and plain HTTP. The latter is over HTTP/1.1 or HTTP/2.
 * Other packages produce the responses.
 *
 * <p>Vert.x accepts connections, and has the event loops: each has its own server, all share the port, and a connection
 * stays on its loop. Netty's codecs implement the protocols. Only this package is between them and the responses, since
 * a read costs less than a general server's overhead.
 *
 * <p>In reading order: {@link io.understudy.gateway.server.ApiServer}, {@code ProtocolSelector}, {@code Http2Handler}
 * and {@code Http1Handler}, {@code Exchange} for their common part, {@code Requests} that selects the method, {@code
 * UnaryCall}, {@code MessageCall} and {@code WebRequest}, {@code BodyPump}; {@code WholeAnswer} and {@code
 * JoinedFrames} for small responses and events.
 */
@NullMarked
package io.understudy.gateway.server;

import org.jspecify.annotations.NullMarked;
