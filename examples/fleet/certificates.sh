#!/bin/sh
# Makes a certificate authority, and with it a certificate for a NATS server: ca.pem, cert.pem and key.pem of /etc/nats.
# The name after subjectAltName is the one in the URL of the server. Keep ca.key to yourself.
set -eu
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
	-subj /CN=ralph-ca -keyout ca.key -out ca.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=nats -keyout key.pem -out nats.csr
printf 'subjectAltName=IP:10.0.0.1\nextendedKeyUsage=serverAuth\n' > nats.ext
openssl x509 -req -in nats.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 825 -extfile nats.ext -out cert.pem
